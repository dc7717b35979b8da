// Command oracle holds the simulator's API server against upstream's own kube-apiserver.
// What simulated runs asked is sent to both in the same order, and the answers are
// compared: statuses, bodies, the order of revisions, the events of watches. They are equal
// up to a list of known differences (replay/differences.go), each with its reason.
//
// With -show it does findings again on upstream's own programs alone (show).
//
// Exit: 0 nothing differs that is not on the list · 1 something does, or a finding is not shown · 2 could not run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"ipamsim/cmd/controllers"
	"ipamsim/cmd/managers"
	"ipamsim/cmd/oracle/replay"
	"ipamsim/cmd/oracle/show"
	"ipamsim/cmd/oracle/upstream"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
)

// flags are ours: packages of the kubelet that are linked register theirs with the program's.
var flags = flag.NewFlagSet("oracle", flag.ExitOnError)

var (
	only      = flags.String("build", "", "only build `program` (apiserver, kubectl, kube-controller-manager, metallb-controller), and print where it is")
	most      = flags.Int("runs", 10, "compare `N` runs: of the library, spread over it, and beyond its size of drawn worlds; 0: all of the library")
	serves    = flags.String("serve", "", "only serve: a kube-apiserver with the custom resources of this `manager`, whose kubeconfig's path is printed, until the input ends")
	shows     = flags.String("show", "", "reproduce a finding with upstream's own programs, by the name of its `scenario`, or all")
	real      = flags.Bool("real", false, "with Kubernetes' own controllers, and with the admission that they count on")
	apiserver = flags.String("apiserver", "", "a prebuilt kube-apiserver (default: build it from the module proxy)")
)

func main() {
	_ = flags.Parse(os.Args[1:]) // it exits
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

func run(ctx context.Context) (ok bool, err error) {
	if *only != "" {
		file, err := upstream.Build(ctx, *only, os.Stderr)
		fmt.Println(file)
		return err == nil, err
	}
	if *apiserver == "" {
		if *apiserver, err = upstream.Build(ctx, "apiserver", os.Stderr); err != nil {
			return false, err
		}
	}
	if *serves != "" {
		return true, serve(ctx, *serves)
	}
	if *shows != "" {
		definitions := func(manager string) ([]*apiextv1.CustomResourceDefinition, error) {
			return managers.All().Find(manager).Definitions()
		}
		return show.Show(ctx, *shows, *apiserver, definitions, os.Stdout)
	}
	if *real {
		controllers.Use()
	}
	scenarios.Tune()
	runner, err := scenarios.NewRunner()
	if err != nil {
		return false, err
	}
	defer runner.Close()
	return compareAll(ctx, runner)
}

// compareAll compares run after run and prints what came of it.
func compareAll(ctx context.Context, r *scenarios.Runner) (ok bool, err error) {
	servers, err := replay.NewPool(*apiserver)
	if err != nil {
		return false, err
	}
	defer servers.Close()
	var sum replay.Total
	defer func() { sum.Print(os.Stdout) }() // of an interrupted one, too
	for s, err := range jobs(flags.Args(), *most) {
		began := time.Now()
		var p *replay.Replay
		if err == nil {
			p, err = compareOne(ctx, r, servers, s)
		}
		if bad := new(strict.Error); errors.As(err, &bad) && flags.NArg() == 0 {
			sum.Refused++ // it wants what is not here, or its API server refuses it
			continue
		}
		if err != nil {
			return false, err
		}
		sum.Add(p)
		fmt.Fprintf(os.Stderr, "%s  %.1fs\n", p, time.Since(began).Seconds())
		for _, f := range p.Findings() {
			fmt.Fprint(os.Stderr, f)
		}
	}
	return sum.Equal(), nil
}

// compareOne records a run and sends what it asked.
func compareOne(ctx context.Context, r *scenarios.Runner, servers *replay.Pool, s *scenarios.Scenario) (*replay.Replay, error) {
	rec, err := record(ctx, r, s)
	if err != nil {
		return nil, err
	}
	return replay.Run(ctx, rec, servers)
}
