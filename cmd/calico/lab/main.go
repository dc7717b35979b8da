// Command lab builds small clusters out of real network namespaces, real BIRD and
// Calico's own configuration templates, pings every pair, and compares what came
// back with what the routing tables and the model of package route say.
//
// It runs as any user, in namespaces of its own: nothing leaves the machine, and
// the kernel cleans up. Where it cannot run it says SKIP and why; with
// LAB_REQUIRED=1 that is a failure.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"

	"ipamsim/cmd/calico/lab/netns"
)

// Exit codes.
const (
	exitAgreed   = 0 // every pair of every topology, or skipped
	exitDiffered = 1 // a pair or a timing differs, a topology did not converge, or a required lab was skipped
	exitCannot   = 2 // usage, environment, interrupted
)

// requiredVariable turns a skip into a failure.
const requiredVariable = "LAB_REQUIRED"

// options are the flags.
type options struct {
	asked    string // -only
	only     *regexp.Regexp
	random   uint64 // how many topologies to make up, instead of those of the list
	seed     uint64
	parallel int
	slow     bool
	tables   bool
	probe    bool   // only find out whether the lab could run: said by the copy to itself
	calico   string // the directory of Calico's sources, passed to the copy
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// command is the whole program but for the process around it. Outside it looks
// for what is needed and runs itself again; inside it does the work.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return exitCannot
	}
	if netns.Inside() {
		return work(ctx, o, stdout, stderr)
	}
	chosen := o.chosen()
	if len(chosen) == 0 {
		fmt.Fprintf(stderr, "lab: no topology matches -only %s\n", o.asked)
		return exitCannot
	}
	_, bird, err := netns.FindTools()
	if err != nil {
		return skip(stdout, err.Error(), len(chosen))
	}
	userNamespace, why := netns.Probe()
	if why != "" {
		return skip(stdout, why, len(chosen))
	}
	calico, version, err := findCalico()
	if err != nil {
		fmt.Fprintln(stderr, "lab:", err)
		return exitCannot
	}
	fmt.Fprintf(stdout, "lab: %s, Calico's templates %s, %d topologies, %d at a time\n", bird, version, len(chosen), o.parallel)
	code, err := netns.Run(ctx, append([]string{"-calico", calico}, args...), userNamespace, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "lab:", err)
		return exitCannot
	}
	return code
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("lab", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.asked, "only", "", "run the topologies whose number matches this `regexp`, and no timings")
	fs.Uint64Var(&o.random, "random", 0, "make up this `many` topologies instead, and no timings")
	fs.Uint64Var(&o.seed, "seed", 1, "of what is made up")
	fs.IntVar(&o.parallel, "p", 4*runtime.NumCPU(), "topologies at a time; they mostly wait")
	fs.BoolVar(&o.slow, "slow", false, "measure what takes minutes too: graceful restart, hold time")
	fs.BoolVar(&o.tables, "tables", false, "print every routing table, also when all agree")
	fs.BoolVar(&o.probe, "probe", false, "only find out whether the lab can run here; used by the lab itself")
	fs.StringVar(&o.calico, "calico", "", "where Calico's sources are; used by the lab itself")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 || o.parallel < 1 {
		fmt.Fprintln(stderr, "lab: usage: lab [-only regexp] [-random many [-seed n]] [-p topologies] [-slow] [-tables]")
		return o, flag.ErrHelp
	}
	if o.only, err = regexp.Compile("^(?:" + o.asked + ")$"); err != nil {
		fmt.Fprintln(stderr, "lab: -only:", err)
		return o, err
	}
	if o.asked == "" {
		o.only = regexp.MustCompile("")
	}
	return o, nil
}

// chosen are the topologies that -only and -random ask for.
func (o options) chosen() (chosen []topology) {
	all := topologies()
	if o.random > 0 {
		all = nil
		for i := range o.random {
			all = append(all, random(o.seed, i+1))
		}
	}
	for _, four := range all {
		both := []topology{four, four.six()}
		if four.facts.Pools[0].IPIP != "" {
			both = both[:1]
		}
		for _, t := range both {
			if o.only.MatchString(t.id) {
				chosen = append(chosen, t)
			}
		}
	}
	return chosen
}

// times reports whether timings are measured: not if certain topologies are asked
// for.
func (o options) times() bool { return o.asked == "" && o.random == 0 }

// skip says loudly that nothing was compared.
func skip(stdout io.Writer, why string, topologies int) int {
	fmt.Fprintf(stdout, "SKIP lab: %s\nlab: 0 run, %d SKIPPED\n", why, topologies)
	if required() {
		fmt.Fprintf(stdout, "lab: %s=1, and it could not run\n", requiredVariable)
		return exitDiffered
	}
	return exitAgreed
}

func required() bool { v := os.Getenv(requiredVariable); return v != "" && v != "0" }

// work is what the isolated copy does.
func work(ctx context.Context, o options, stdout, stderr io.Writer) int {
	if err := netns.Settle(); err != nil {
		fmt.Fprintln(stderr, err)
		return netns.CannotIsolate
	}
	if o.probe {
		return exitAgreed
	}
	t, _, err := netns.FindTools()
	if err != nil {
		fmt.Fprintln(stderr, "lab:", err)
		return exitCannot
	}
	b := bench{tools: t, confd: confd{calico: o.calico}, tables: o.tables}
	return b.report(ctx, o, stdout)
}
