package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/running"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/attach"
	"ipamsim/sim/cluster"
	"ipamsim/sim/strategy"
)

// serveFlags are the flags of serve as typed.
type serveFlags struct {
	managers                   scenarios.Managers
	seed                       uint64
	strategy, store, datastore string
	at                         time.Duration
	step                       int
	hold                       bool
}

func serveCommand(m scenarios.Managers) *cobra.Command {
	f := &serveFlags{managers: m}
	cmd := &cobra.Command{
		Use:   "serve FILE",
		Short: "serve the paused cluster of a run to kubectl",
		Long: `Run a scenario up to a step and serve its cluster on loopback to kubectl and other
clients of Kubernetes that use the printed kubeconfig. The cluster can be read and
watched; changes are rejected, because they belong in the scenario's timeline. A finding
is replayed as recorded.

The run takes place twice: first without clients, to count its steps, and to detect
whether the clients change it.

Exit: 0 ended by Ctrl-C, or the run is over · 2 could not run.`,
		Example: `  ipamsim serve scenarios/NAME.yaml --at 1m
  ipamsim serve scenarios/NAME.yaml --step 250 --hold`,
		RunE: func(cmd *cobra.Command, files []string) error {
			s, o, err := f.check(cmd, files)
			if err != nil {
				return err
			}
			return f.serve(cmd, s, o)
		},
	}
	fl := cmd.Flags()
	fl.Uint64Var(&f.seed, "seed", 0, "run with seed `N`")
	fl.StringVar(&f.strategy, "strategy", "", "strategy that decides the schedule: "+strings.Join(strategy.Names(), ", "))
	fl.StringVar(&f.store, "store", "etcd", "store of the API server: "+running.Stores)
	datastores := datastoresOf(m)
	fl.StringVar(&f.datastore, "datastore", "", "datastore of a manager that supports several: "+strings.Join(datastores, ", "))
	fl.Lookup("datastore").Hidden = len(datastores) == 0
	fl.DurationVar(&f.at, "at", 0, "pause after the last step before this virtual `time`, e.g. 1m")
	fl.IntVar(&f.step, "step", 0, "pause after step `N` (default: the last step; with --hold, the first)")
	fl.BoolVar(&f.hold, "hold", false, "continue the run step by step: Enter here, or ipamsim step")
	return cmd
}

// check finds everything that is wrong before anything is run.
func (f *serveFlags) check(cmd *cobra.Command, files []string) (*scenarios.Scenario, scenarios.Options, error) {
	o := scenarios.Options{Strategy: f.strategy, Store: f.store}
	fail := func(err error) (*scenarios.Scenario, scenarios.Options, error) { return nil, o, err }
	fl := cmd.Flags()
	switch {
	case len(files) != 1:
		return fail(errors.New("want one scenario or finding"))
	case fl.Changed("at") && fl.Changed("step"):
		return fail(errors.New("--at and --step exclude each other"))
	case fl.Changed("at") && f.at < 0:
		return fail(fmt.Errorf("--at: want a virtual time since the start of the run, have %s", f.at))
	case fl.Changed("step") && f.step < 1:
		return fail(fmt.Errorf("--step: want the number of a step, from 1 on, have %d", f.step))
	}
	if err := running.CheckStore(f.store); err != nil {
		return fail(err)
	}
	if err := checkStrategy(f.strategy); err != nil {
		return fail(err)
	}
	all, err := running.Load(f.managers, files)
	if err != nil {
		return fail(err)
	}
	s := all[0]
	if err := sameUpstream(s); err != nil {
		return fail(err)
	}
	if o.Datastore = f.datastore; o.Datastore != "" && !slices.Contains(s.Datastores(), o.Datastore) {
		return fail(fmt.Errorf("--datastore: unknown datastore %q, want one of [%s]", o.Datastore, strings.Join(s.Datastores(), ", ")))
	}
	if fl.Changed("seed") {
		o.Seed = &f.seed
	}
	o.Recorded = s.Doc.Spec.Schedule != nil && o.Seed == nil && f.strategy == ""
	return s, o, nil
}

// serve runs the scenario twice: without and with clients.
func (f *serveFlags) serve(cmd *cobra.Command, s *scenarios.Scenario, o scenarios.Options) (err error) {
	scenarios.Tune()
	runner, err := scenarios.NewRunner()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ipamsim-serve-")
	if err != nil {
		return errors.Join(err, runner.Close())
	}
	cleanup := sync.OnceValue(func() error { return errors.Join(runner.Close(), os.RemoveAll(dir)) })
	ctx, stop := exit.InterruptibleFor(servePatience, cmd.ErrOrStderr(), func() { _ = cleanup() })
	defer stop()
	defer func() { err = errors.Join(err, cleanup()) }()
	v := &visit{cmd: cmd, hold: f.hold, file: filepath.Join(dir, "kubeconfig"), session: attach.NewSession()}
	o.End = func(c *cluster.Cluster) {
		for kind := range c.Kinds {
			v.keeps = v.keeps || c.Keeps(kind) != nil
		}
	}
	if v.plain, err = runner.Run(ctx, s, o); err != nil {
		return (&session{}).broken(v.plain, err)
	}
	o.End = nil
	if v.next, err = f.first(v.plain.Trace.Steps); err != nil {
		return err
	}
	return v.run(ctx, runner, s, o)
}

// servePatience is how long a run may take to end after Ctrl-C: its processes are killed,
// and their goroutines unwind in virtual time.
const servePatience = 10 * time.Second

// first is the step after which to stand still for the first time.
func (f *serveFlags) first(steps []*sim.Step) (int, error) {
	if len(steps) == 0 {
		return 0, errors.New("the run has no steps to pause at")
	}
	switch {
	case f.step > len(steps):
		return 0, fmt.Errorf("--step: the run has %s, want one of them", layout.Plural(len(steps), "step"))
	case f.step > 0:
		return f.step, nil
	case f.at > 0:
		n := sort.Search(len(steps), func(i int) bool { return steps[i].At > f.at })
		if n == 0 {
			return 0, fmt.Errorf("--at: nothing happens until %s, when the first step is", steps[0].At)
		}
		return n, nil
	case f.hold:
		return 1, nil
	}
	return len(steps), nil
}

// ending renders the report about a run that is over.
func (v *visit) ending(rep *reports.Report) string {
	switch {
	case v.parted > 0:
		return fmt.Sprintf("from step %d on, the run differs from the one without clients: a watch changed the order of goroutines", v.parted)
	case rep.Digest == v.plain.Digest:
		return "the run is the same as without clients: digest " + rep.Digest
	}
	return "the run ended at another step than the one without clients"
}
