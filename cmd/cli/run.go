package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ipamsim/cmd/cli/running"
	"ipamsim/scenarios"
	"ipamsim/sim/strategy"
)

// runFlags are the flags of run as typed.
type runFlags struct {
	managers  scenarios.Managers
	all       bool
	seed      uint64
	seeds     string
	strategy  string
	store     string
	datastore string
	controls  string
	verify    bool
	other     bool // findings of other upstreams, too
	outputs   outputFlags
}

func runCommand(m scenarios.Managers) *cobra.Command {
	f := &runFlags{managers: m}
	cmd := &cobra.Command{
		Use:   "run FILE… | --all",
		Short: "run scenarios and check every invariant at every step",
		Long: `Run scenarios and check every invariant at every step.

Without --seed and --strategy, each scenario runs with its own seed and strategy, to
which its expectation refers. Every file is loaded and checked before the first run.

Exit: 0 as expected · 1 an unexpected violation, or an expected one that did not happen ·
2 could not run, or a limit was reached.`,
		Example: `  ipamsim run scenarios/NAME.yaml
  ipamsim run scenarios/NAME.yaml --seeds 1-1000 --json runs.json
  ipamsim run --all --verify`,
		RunE: func(cmd *cobra.Command, files []string) error {
			p, err := f.check(cmd, files)
			if err != nil {
				return err
			}
			return execute(cmd, p)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.all, "all", false, "run ./scenarios/*.yaml, or without such files the library in the program")
	fl.Uint64Var(&f.seed, "seed", 0, "run with seed `N`")
	fl.StringVar(&f.seeds, "seeds", "", "run with each seed from A to B: `A-B`")
	fl.StringVar(&f.strategy, "strategy", "", "strategy that decides the schedule: "+strings.Join(strategy.Names(), ", ")+"; for several runs: "+strings.Join(strategy.SeveralNames(), ", "))
	fl.StringVar(&f.store, "store", "etcd", "store of the API server: "+running.Stores+", which is faster; a run with a violation is repeated on etcd")
	datastores := datastoresOf(m)
	fl.StringVar(&f.datastore, "datastore", "", "datastore of a manager that supports several: "+strings.Join(datastores, ", ")+", or all to run with each (default: that of the scenario)")
	fl.Lookup("datastore").Hidden = len(datastores) == 0
	fl.StringVar(&f.controls, "controllers", "", "controllers that create, bind and delete pods: real (Kubernetes' own) or simple (faster) (default: that of the scenario, or real)")
	fl.BoolVar(&f.verify, "verify", false, "repeat every run on etcd, and compare the schedule logs")
	otherUpstream(fl, &f.other)
	f.outputs.add(fl)
	return cmd
}

// otherUpstream is for ipamsim matrix, which knows what the answer is worth.
func otherUpstream(fl *pflag.FlagSet, to *bool) {
	fl.BoolVar(to, "other-upstream", false, "also run findings that were recorded with another upstream")
	fl.Lookup("other-upstream").Hidden = true
}

// work is what a command is to do, checked: nothing of it can be a usage error any
// more.
type work struct {
	jobs    []job
	verify  bool
	replay  bool
	outputs outputFlags
}

// job is one scenario with the seeds to run it with.
type job struct {
	scenario *scenarios.Scenario
	options  scenarios.Options
	from, to uint64 // seeds, if own is false
	own      bool   // the scenario's own seed
}

func (j *job) runs() int {
	if j.own {
		return 1
	}
	return int(j.to - j.from + 1)
}

func (p *work) runs() (n int) {
	for i := range p.jobs {
		n += p.jobs[i].runs()
	}
	return n
}

// check finds everything that is wrong before anything is run: flags first, then
// every file.
func (f *runFlags) check(cmd *cobra.Command, files []string) (*work, error) {
	j := job{own: true, options: scenarios.Options{Strategy: f.strategy, Store: f.store}}
	if err := running.CheckStore(f.store); err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("seeds") {
		var err error
		if j.from, j.to, err = seedRange(f.seeds); err != nil {
			return nil, err
		}
		j.own = false
	}
	if cmd.Flags().Changed("seed") {
		if !j.own {
			return nil, errors.New("--seed and --seeds exclude each other")
		}
		j.from, j.to, j.own = f.seed, f.seed, false
	}
	several := slices.Contains(strategy.SeveralNames(), f.strategy)
	if several && f.verify {
		return nil, fmt.Errorf("--verify: cannot be used with --strategy %s, which makes several runs", f.strategy)
	}
	if !several {
		if err := checkStrategy(f.strategy); err != nil {
			return nil, err
		}
	}
	files, err := running.Library(f.managers, f.all, files)
	if err != nil {
		return nil, err
	}
	p := &work{verify: f.verify, outputs: f.outputs}
	loaded, err := running.Load(f.managers, files)
	for _, s := range loaded {
		if err := sameUpstream(s); err != nil && !f.other {
			return nil, err
		}
		if j.scenario, err = s.WithControllers(f.controls); err != nil {
			return nil, fmt.Errorf("--controllers: %w", err)
		}
		stores, err := f.datastores(s)
		if err != nil {
			return nil, err
		}
		for _, j.options.Datastore = range stores {
			p.jobs = append(p.jobs, j)
		}
	}
	if err == nil {
		err = p.outputs.check(loaded)
	}
	if err == nil && p.outputs.metrics != "" && p.verify {
		err = errors.New("--metrics: want one run, a file is one exposition")
	}
	runs := p.runs()
	if several {
		runs = running.SeedsMax // as many as it likes
	}
	p.outputs.gallery = p.outputs.html != "" && runs > 1
	for i := range p.jobs {
		p.jobs[i].options.Recording = p.outputs.film()
	}
	if err == nil {
		err = p.outputs.single(runs)
	}
	return p, err
}

// checkStrategy checks the name of a strategy for a single run; "" is the scenario's own.
func checkStrategy(name string) error {
	if name == "" {
		return nil
	}
	if _, err := strategy.Parse(name, 0, strategy.Settings{}); err != nil {
		return fmt.Errorf("--strategy: %w", err)
	}
	return nil
}

func seedRange(text string) (from, to uint64, err error) {
	a, b, ok := strings.Cut(text, "-")
	from, errA := strconv.ParseUint(a, 10, 64)
	to, errB := strconv.ParseUint(b, 10, 64)
	switch {
	case !ok || errA != nil || errB != nil:
		return 0, 0, fmt.Errorf("--seeds: want A-B with two whole numbers from 0 to %d, have %q", uint64(math.MaxUint64), text)
	case from > to:
		return 0, 0, fmt.Errorf("--seeds: %d is more than %d; want the smaller one first", from, to)
	case to-from >= running.SeedsMax:
		return 0, 0, fmt.Errorf("--seeds: more than %d seeds", running.SeedsMax)
	}
	return from, to, nil
}

// datastoresOf are those that the managers can keep their records in, sorted.
func datastoresOf(managers scenarios.Managers) (out []string) {
	for _, m := range managers {
		out = append(out, m.Datastores...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// datastores are those to run a scenario with.
func (f *runFlags) datastores(s *scenarios.Scenario) ([]string, error) {
	all := s.Datastores()
	switch {
	case f.datastore == "":
		return []string{""}, nil
	case len(all) == 0:
		return nil, fmt.Errorf("--datastore: %s of %s supports only the Kubernetes API", s.Doc.Spec.IPAM, s.File)
	case f.datastore == "all":
		return all, nil
	case slices.Contains(all, f.datastore):
		return []string{f.datastore}, nil
	}
	return nil, fmt.Errorf("--datastore: unknown datastore %q, want %s, or all", f.datastore, strings.Join(all, ", "))
}
