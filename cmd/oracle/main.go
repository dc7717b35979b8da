// Command oracle holds the simulator's API server against upstream's own kube-apiserver.
// What simulated runs asked is sent to both in the same order, and the answers are
// compared: statuses, bodies, the order of revisions, the events of watches. They are equal
// up to a list of known differences (differences.go), each with its reason.
//
// Exit: 0 nothing differs that is not on the list · 1 something does · 2 could not run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"ipamsim/cmd/controllers"
	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
)

var (
	only    = flag.String("build", "", "only build apiserver or kubectl, and print where it is")
	most    = flag.Int("runs", 10, "compare `N` scenarios of the library, spread over it; 0: all")
	program = flag.String("apiserver", "", "a kube-apiserver built before (default: build it from the module proxy)")
	list    = flag.Bool("differences", false, "print the known differences as a Markdown table")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ok, err := run(ctx)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(2)
	case !ok:
		os.Exit(1)
	}
}

// programs are what can be built, by name.
var programs = map[string]string{"apiserver": "./apiserver", "kubectl": "k8s.io/kubernetes/cmd/kubectl"}

func run(ctx context.Context) (ok bool, err error) {
	switch {
	case *list:
		for _, d := range differences {
			fmt.Printf("| %s | %s |\n", d.name, d.why)
		}
		return true, nil
	case *only != "":
		pkg := programs[*only]
		if pkg == "" {
			return false, fmt.Errorf("-build: want apiserver or kubectl, have %q", *only)
		}
		file, err := build(ctx, pkg, *only, os.Stderr)
		fmt.Println(file)
		return err == nil, err
	}
	if *program == "" {
		if *program, err = build(ctx, programs["apiserver"], "apiserver", os.Stderr); err != nil {
			return false, err
		}
	}
	controllers.Use()
	scenarios.Tune()
	all, err := chosen(flag.Args())
	if err != nil {
		return false, err
	}
	runner, err := scenarios.NewRunner()
	if err != nil {
		return false, err
	}
	defer runner.Close()
	return compareAll(ctx, runner, all)
}

// job is a scenario and where its manager keeps the record.
type job struct {
	scenario  *scenarios.Scenario
	datastore string
}

// inAPI is the datastore that is the Kubernetes API.
const inAPI = "kubernetes"

// chosen are the scenarios to compare: those named, or some of the library.
func chosen(files []string) (out []job, err error) {
	named := len(files) > 0
	if !named {
		if files, err = filepath.Glob("scenarios/*.yaml"); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		s, err := managers.All().Load(f)
		if err != nil {
			return nil, err
		}
		j := job{scenario: s}
		if stores := s.Datastores(); slices.Contains(stores, inAPI) {
			j.datastore = inAPI
		}
		out = append(out, j)
	}
	if n := *most; !named && n > 0 && n < len(out) {
		some := make([]job, n)
		for i := range some {
			some[i] = out[i*len(out)/n]
		}
		out = some
	}
	if len(out) == 0 {
		err = errors.New("no scenarios/*.yaml here; run it in the project's directory")
	}
	return out, err
}

// compareAll compares run after run and prints what came of it.
func compareAll(ctx context.Context, r *scenarios.Runner, all []job) (ok bool, err error) {
	var sum total
	for _, j := range all {
		p, err := compareOne(ctx, r, j)
		if err != nil {
			return false, err
		}
		if p == nil {
			fmt.Printf("%-60s not compared: Kubernetes' own controllers, for whom there is admission\n", j.scenario.Name())
			continue
		}
		sum.add(p)
		fmt.Printf("%-60s %6d requests %5d watches %6d events  %d unexplained\n", p.scenario, p.sent, p.watched, p.events, len(p.findings))
		for i := range p.findings {
			fmt.Print(p.findings[i].String())
		}
	}
	sum.print()
	return sum.findings == 0, nil
}

// compareOne is nil for a run that cannot be compared.
func compareOne(ctx context.Context, r *scenarios.Runner, j job) (*replay, error) {
	rec, err := record(ctx, r, j.scenario, j.datastore)
	if err != nil || rec.controlled {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ipamsim-oracle-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s, err := startServer(ctx, *program, dir)
	if s != nil && s.cmd.Process != nil {
		defer s.stop()
	}
	if err != nil {
		return nil, err
	}
	p := &replay{recording: rec, to: s, terms: newTerms(), skipped: map[string]int{}}
	return p, p.run(ctx)
}

// total is what all runs had.
type total struct {
	runs, sent, watched, events, findings int
	skipped                               map[string]int
}

func (t *total) add(p *replay) {
	if t.skipped == nil {
		t.skipped = map[string]int{}
	}
	t.runs, t.sent, t.watched, t.events, t.findings = t.runs+1, t.sent+p.sent, t.watched+p.watched, t.events+p.events, t.findings+len(p.findings)
	for d, n := range p.skipped {
		t.skipped[d] += n
	}
}

func (t *total) print() {
	fmt.Printf("%d runs: %d requests, %d of them watches with %d events; %d differences that nobody has explained\n", t.runs, t.sent, t.watched, t.events, t.findings)
	for _, d := range differences {
		if n := t.skipped[d.name]; n > 0 {
			fmt.Printf("not sent: %d requests (%s: %s)\n", n, d.name, d.why)
		}
	}
}
