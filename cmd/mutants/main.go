// Command mutants measures which small mistakes in an address manager the gate detects:
//
//	make mutants MANAGER=NAME SAMPLE=200 SEED=1
//	go run ./cmd/mutants -manager NAME -sample 200 -seed 1
//
// It generates all mutants of the packages that sim/ipam/NAME/mutants.txt lists, in one copy
// of the module's source (or of a fork's, -source), and builds one program from it (package
// ipamsim/fuzz/mutants). A first run of all scenarios of the manager checks that, without a
// mutant, the copy conforms to the baseline, and records which mutants each scenario reaches.
// Then each mutant of the sample is gated ("ipamsim gate --brief") with the scenarios that
// reach it, the shortest first, until one is red.
//
// Its files are in bin/_mutants/NAME. It can be interrupted: a mutant with a known result is
// not run again as long as the program and the baseline are the same. At the end it writes
// reports/MUTANTS.md, for all managers with results.
//
// With -manager harness, the mutants are the simulator's own, of its invariants, kernel and
// cluster, and their tests judge them: harness.go. A sample is drawn from each of these parts.
//
// It exits with 2 if it could not measure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// settings are the flags.
type settings struct {
	manager, source string
	sample          int
	seed            uint64
	workers, steps  int
	budget          time.Duration
	only            string
	known           bool
}

func main() {
	var s settings
	flag.StringVar(&s.manager, "manager", "", "the address manager: a folder of sim/ipam with a mutants.txt; or \"harness\"")
	flag.StringVar(&s.source, "source", "", "the folder of a fork instead of the release")
	flag.IntVar(&s.sample, "sample", 0, "number of mutants, drawn at random from those that a scenario reaches; 0: all")
	flag.Uint64Var(&s.seed, "seed", 1, "which ones")
	flag.IntVar(&s.workers, "workers", 2, "runs at a time")
	flag.IntVar(&s.steps, "steps", 0, "exclude scenarios whose runs in a gate have more steps in total; 0: none")
	flag.DurationVar(&s.budget, "budget", 3*time.Minute, "timeout for each mutant; mutants without a result count separately")
	flag.BoolVar(&s.known, "known", false, "only report the known results")
	flag.StringVar(&s.only, "only", "", "run the mutants whose key contains this, without a report")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// What is in a program is what results are kept by, and no commit's name.
	err := errors.Join(s.check(), os.Setenv("GOFLAGS", "-buildvcs=false "+os.Getenv("GOFLAGS")))
	if err == nil {
		err = s.run(ctx)
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted; the same command continues")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "mutants: %s\n", strings.TrimSpace(err.Error()))
		os.Exit(2)
	}
}

// check finds what is wrong with flags.
func (s *settings) check() error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%q: no argument is wanted, see -help", flag.Arg(0))
	case s.sample < 0 || s.workers < 1 || s.steps < 0 || s.budget < time.Second:
		return errors.New("-sample, -steps: at least 0; -workers: at least 1; -budget: at least 1s")
	case strings.ContainsAny(s.manager, "/\\ ") || s.manager == "" || s.manager[0] == '.':
		return fmt.Errorf("-manager: want a folder of sim/ipam with a mutants.txt, have %q", s.manager)
	}
	return nil
}

// run does all of it.
func (s *settings) run(ctx context.Context) error {
	if s.manager == harness {
		return s.harness(ctx)
	}
	g, err := s.garden(ctx)
	if err != nil {
		return err
	}
	if err := g.reach(ctx); err != nil {
		return err
	}
	if !s.known {
		if err := g.measure(ctx); err != nil {
			return err
		}
	}
	if s.only != "" {
		return nil
	}
	return g.report()
}
