package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/checker"
	"ipamsim/sim/cluster/control"
	"ipamsim/sim/cluster/cron"
	"ipamsim/sim/etcd"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
	"ipamsim/sim/strategy"
	"ipamsim/sim/way"
)

// Runner runs scenarios, one after another, over the one etcd of this process, or
// on the fast store.
type Runner struct {
	store *etcd.Server
	lost  func(error)
}

// NewRunner makes one. The first run on etcd starts the embedded etcd, Close
// removes it.
func NewRunner() (*Runner, error) { return NewRunnerIn("", nil) }

// NewRunnerIn keeps the directory of the etcd in dir, for a parent that removes it if this
// process cannot; "" is any place. When no etcd can be started, lost is called with the
// error, unless it is nil: a worker process that answered would take one question after
// another, and each would count as done (process.Die).
func NewRunnerIn(dir string, lost func(error)) (*Runner, error) {
	return &Runner{etcd.New(dir), lost}, nil
}

// Close stops the etcd and removes its directory.
func (r *Runner) Close() error { return r.store.Close() }

// Options of one run. The zero value is the scenario's own.
type Options struct {
	Seed      *uint64
	Strategy  string
	Datastore string // where the manager keeps its record, if it has a choice
	Store     string // Etcd, also if empty, or Memory
	Schedule  []int  // replay these decisions instead of asking a strategy
	// Walk decides instead of Schedule and Strategy: one run of it, already begun.
	Walk sim.Strategy
	// Recorded replays the run in spec.schedule.
	Recorded bool
	// Recording keeps what everything looked like after every step: reports.Report.Film.
	Recording bool
	// Samples are views of the cluster at instants; each is a step of the run.
	Samples checker.Samples
	// InTurn lets kubelets work on one pod at a time, for a run that is compared with
	// the reference allocators: see cluster.Config.
	InTurn time.Duration
	// Instant: see sim.Options. A recorded run has its own.
	Instant time.Duration
	// Siteless takes no call sites of messages: for measuring what they cost.
	Siteless bool
	// End is called when the run is over, before its processes are killed, to inspect the final state.
	End func(*cluster.Cluster)
	// Served is given the API server of the run before anything is stored in it.
	Served func(api *kube.Server)
	// Each is called after every step, while the cluster stands still. True ends the run
	// there; what only holds at rest is then not judged. An error is the run's.
	Each func(w *sim.World, api *kube.Server, at *sim.Step) (stop bool, err error)
	// StopAt is asked for each new violation, with the report so far: its Trace, History,
	// Ledger, Violations and Act. True ends the run there; what only holds at rest is then not
	// judged.
	StopAt func(*reports.Report, *model.Violation) bool
}

// served is called with the API server of a run before anything is stored in it.
func (o *Options) served(api *kube.Server, instant time.Duration) {
	if instant > 0 {
		api.NameUIDs() // schedules are compared
	}
	if o.Served != nil {
		o.Served(api)
	}
}

// Run runs a scenario once. The error is nil for every run that ended, whatever it found; a run that a limit
// cut short has verdict Unknown. An error that wraps sim.ErrInterrupted comes with the partial report.
func (r *Runner) Run(ctx context.Context, s *Scenario, o Options) (*reports.Report, error) {
	if err := s.clocks(); err != nil {
		return nil, err
	}
	rep := s.report(o)
	st, replay, err := s.strategy(rep, o)
	if err != nil {
		return nil, err
	}
	gates, err := kube.SetGates(s.Doc.Spec.ControlPlane.FeatureGates)
	if err != nil {
		return nil, err
	}
	defer gates.Undo()
	run, err := r.begin(rep.Store)
	if err != nil {
		return nil, err
	}
	defer run.End()
	before, started := hermetic.Foreign(), time.Now()
	var c *cluster.Cluster
	var unread error // of what the run left behind
	rep.Sites, rep.CrashSites, rep.JSON = ipam.CallSites(s.Manager()), ipam.CrashSites(s.Manager()), kube.JSON
	options := s.options(rep.Seed, st)
	options.Stackless, options.Instant = o.Siteless, rep.Instant
	trace, err := sim.Run(ctx, options, func(w *sim.World) error {
		api, err := ipam.Serve(w, run, s.Manager())
		if err != nil {
			return err
		}
		o.served(api, rep.Instant)
		cfg := s.cluster(o)
		rep.BlackholeAfter = cfg.Settings.BlackholeAfter
		cfg.Stop = s.stop(o, rep, func() {
			rep.Trace, rep.History, rep.Ledger, rep.Violations, rep.Act = w.Trace(), c.Checker.History(), c.Checker.Ledger(), c.Checker.Violations(), c.Act
		})
		if o.Each != nil {
			cfg.Stop = each(w, api, o.Each, cfg.Stop)
		}
		if c, err = cluster.Start(w, run, api, cfg); err != nil {
			return s.refused(err)
		}
		whenOver(w, func() {
			rep.Virtual = w.Now()
			if rep.StoreDigest, unread = run.Digest(); unread == nil && rep.Imported() {
				rep.AtEnd, unread = atEnd(c)
			}
			if o.End != nil {
				o.End(c)
			}
		})
		return nil
	})
	rep.Wall, rep.Foreign = time.Since(started), hermetic.Foreign()-before
	count(rep.Foreign)
	rep.Trace, rep.Digest = trace, fmt.Sprintf("%016x", trace.Digest())
	if c != nil {
		rep.Violations, rep.History, rep.Ledger, rep.Act = c.Checker.Violations(), c.Checker.History(), c.Checker.Ledger(), c.Act
		rep.Calls, rep.Series, rep.States, rep.Recording = c.Calls(), c.Checker.Series(), c.Checker.States(), c.Checker.Film()
		rep.Upstreams, rep.Used, rep.Touched = c.Checker.Upstream(), c.Checker.Used(), c.Checker.Touched()
	}
	rep.Idle = s.idle(rep, gates)
	if o.Recorded {
		rep.Races = s.Doc.Spec.Schedule.racesOf(rep)
	}
	if replay != nil && err == nil {
		err = replay.Err()
	}
	return rep, conclude(rep, cmp.Or(err, unread))
}

// whenOver has more done when a run ends.
func whenOver(w *sim.World, more func()) {
	end := w.Hooks.End
	w.Hooks.End = func() {
		end()
		more()
	}
}

// atEnd is what is wrong with a cluster now, as dump's importer would find it; not nil.
func atEnd(c *cluster.Cluster) ([]model.Violation, error) {
	s, err := c.Checker.Snapshot()
	if err != nil {
		return nil, err
	}
	return append([]model.Violation{}, checker.AtRest(*s)...), nil
}

// What lies beneath the API server and Calico's etcdv3 datastore.
const (
	Etcd   = "etcd"
	Memory = "memory" // the fast store: the same answers without etcd
)

// begin a run on a store.
func (r *Runner) begin(store string) (*etcd.Run, error) {
	switch store {
	case Etcd:
		run, err := r.store.Begin()
		if errors.Is(err, etcd.ErrStart) && r.lost != nil {
			r.lost(err)
		}
		return run, err
	case Memory:
		return r.store.BeginMemory(), nil
	}
	return nil, fmt.Errorf("unknown store %q, want %s or %s", store, Etcd, Memory)
}

// refused finds the line of a manifest that the API server did not take.
func (s *Scenario) refused(err error) error {
	var r *cluster.Rejected
	if !errors.As(err, &r) {
		return err
	}
	if e := s.Refused(r.Object.Kind, r.Object.Namespace, r.Object.Name, r.Err); e != nil {
		return e
	}
	return err
}

// report is what is known before the first step.
func (s *Scenario) report(o Options) *reports.Report {
	spec := s.Doc.Spec
	rep := &reports.Report{
		Scenario: s.Name(), Title: spec.Title, Story: s.story(), File: s.File, Upstream: s.Upstream(), References: s.References(), Store: cmp.Or(o.Store, Etcd),
		Seed: 1, Strategy: "timed", Exact: true, Datastore: s.datastore(o), Metrics: spec.Metrics.Show, Networks: s.Policies(),
	}
	if spec.Strategy != "" {
		rep.Strategy = spec.Strategy
	}
	if spec.Seed != nil {
		rep.Seed = *spec.Seed
	}
	if spec.Schedule != nil {
		rep.Seed = spec.Schedule.Seed
	}
	rep.Instant = o.Instant
	if o.Recorded && spec.Schedule != nil {
		rep.Instant = spec.Schedule.Instant.Duration
	}
	own := *rep
	if o.Seed != nil {
		rep.Seed = *o.Seed
	}
	if o.Strategy != "" {
		rep.Strategy = o.Strategy
	}
	rep.Exact = rep.Seed == own.Seed && rep.Strategy == own.Strategy && s.datastore(o) == s.datastore(Options{}) && !s.others
	if s.others {
		rep.Controllers = s.Controllers()
	}
	if e := spec.Expect; e != nil {
		rep.Explicit = true
		rep.Expected, rep.Allowed = e.With(s.Manager().Upstream)
	}
	rep.Found = spec.Import.Violations
	return rep
}

// follower is a strategy that may lose its way.
type follower interface {
	sim.Strategy
	Err() error
}

func (s *Scenario) strategy(rep *reports.Report, o Options) (sim.Strategy, follower, error) {
	var f follower
	switch {
	case o.Walk != nil:
		rep.Strategy = o.Walk.String()
		return o.Walk, nil, nil
	case o.Recorded && s.Doc.Spec.Schedule == nil:
		return nil, nil, fmt.Errorf("%s: no recorded run", s.Name())
	case o.Recorded:
		f = s.Doc.Spec.Schedule.follow()
	case o.Schedule != nil:
		f = strategy.NewReplay(o.Schedule)
	}
	if f != nil {
		rep.Strategy = "replay"
		return f, f, nil
	}
	set, err := s.Settings()
	if err != nil {
		return nil, nil, err
	}
	st, err := strategy.Parse(rep.Strategy, rep.Seed, set)
	return st, nil, err
}

// stop is when to end a run early, nil for never.
func (s *Scenario) stop(o Options, rep *reports.Report, sofar func()) func(*sim.Step, []model.Violation) bool {
	steps := 0
	if o.Recorded { // there is one, or strategy would have failed
		steps = s.Doc.Spec.Schedule.Steps
	}
	if steps == 0 && o.StopAt == nil {
		return nil
	}
	return func(at *sim.Step, found []model.Violation) bool {
		rep.Stopped = at.Step == steps
		if o.StopAt != nil && len(found) > 0 {
			sofar()
			for i := range found {
				rep.Stopped = rep.Stopped || o.StopAt(rep, &found[i])
			}
		}
		return rep.Stopped
	}
}

// each is Options.Each, and then what else may end the run.
func each(w *sim.World, api *kube.Server, f func(*sim.World, *kube.Server, *sim.Step) (bool, error), also func(*sim.Step, []model.Violation) bool) func(*sim.Step, []model.Violation) bool {
	return func(at *sim.Step, found []model.Violation) bool {
		stop, err := f(w, api, at)
		if err != nil {
			w.Abort(err)
		}
		return stop || also != nil && also(at, found)
	}
}

func (s *Scenario) options(seed uint64, st sim.Strategy) sim.Options {
	spec := s.Doc.Spec
	o := sim.Options{
		Seed: seed, Strategy: st, Service: map[string]time.Duration{},
		Limits: sim.Limits{Steps: spec.Limits.Steps, Virtual: spec.Limits.Virtual.Duration},
		Faults: s.Faults(),
	}
	for class, l := range spec.Latencies {
		o.Service[class] = l.Min.Duration
	}
	return o
}

// Faults are those that a schedule may inject.
func (s *Scenario) Faults() sim.Budget {
	spec := s.Doc.Spec
	b := sim.Budget{Max: spec.Faults.Max, Only: spec.Faults.Only, Until: spec.Until.Duration} // what rests is not hurt
	for f := sim.FailBefore; f <= sim.Crash; f++ {
		if len(spec.Faults.Allowed) == 0 {
			b.Allowed |= sim.Of(f)
		}
	}
	for _, name := range spec.Faults.Allowed {
		if f, err := sim.ParseOutcome(name); err == nil { // checked by Load
			b.Allowed |= sim.Of(f)
		}
	}
	for _, name := range spec.Faults.Answers {
		if w, err := way.Parse(name); err == nil { // checked by Load
			b.Ways |= way.Of(w)
		}
	}
	return b
}

// conclude turns how the kernel ended into a verdict.
func conclude(rep *reports.Report, err error) error {
	rep.Verdict = reports.Pass
	if len(rep.Violations) > 0 {
		rep.Verdict = reports.Fail
	}
	switch {
	case err == nil && rep.Verdict == reports.Pass && len(rep.Idle) > 0:
		rep.Verdict, rep.Reason = reports.Unknown, "what was to happen did not"
		return nil
	case err == nil:
		return nil
	case errors.Is(err, sim.ErrSteps), errors.Is(err, sim.ErrVirtual):
		if rep.Verdict == reports.Pass {
			rep.Verdict = reports.Unknown
		}
		rep.Reason = err.Error()
		return nil
	}
	rep.Verdict, rep.Reason = reports.Unknown, err.Error()
	return err
}

// cluster translates the document.
func (s *Scenario) cluster(o Options) cluster.Config {
	spec := s.Doc.Spec
	cfg := cluster.Config{
		Manager: s.Manager(), Networks: s.Networks, Primary: s.Primary, Objects: s.Objects, Daemons: spec.Daemons,
		Datastore: s.datastore(o), Fabric: spec.Fabric, Outside: s.outside(), Metrics: spec.Metrics.Every.Duration, Film: o.Recording,
		Samples: o.Samples, InTurn: o.InTurn, Controllers: s.controllers(),
		Until: spec.Until.Duration, Settle: spec.Settle.Duration, ClocksJump: s.clocksJump(),
		Timers: cluster.Timers{
			Timers: control.Timers{
				NodeMonitorGrace: spec.Timers.NodeMonitorGrace.Duration, Toleration: spec.Timers.Toleration.Duration,
				PodGC: spec.Timers.PodGC.Duration, APIRetry: spec.Timers.APIRetry.Duration,
			},
			SandboxRetry: spec.Timers.SandboxRetry.Duration, ContainerGC: spec.Timers.ContainerGC.Duration,
		},
		Settings: invariant.Settings{LeakAfter: spec.Judge.LeakAfter.Duration, StuckAfter: spec.Judge.StuckAfter.Duration},
	}
	cfg.Settings.StuckAfter = cmp.Or(cfg.Settings.StuckAfter, 5*time.Minute)
	if cfg.Settings.BlackholeAfter = spec.Judge.BlackholeAfter.Duration; cfg.Settings.BlackholeAfter == 0 {
		cfg.Settings.BlackholeAfter = 10 * time.Second
	}
	var crons cron.Jobs
	for _, r := range spec.Reconcilers {
		sched, err := cron.Parse(r.Schedule)
		if err != nil {
			continue // checked by Load
		}
		k := cron.Job{Reconciler: r.Name, Schedule: sched, Nodes: r.Nodes, Count: r.Count, Overlap: r.Overlap}
		if r.AllNodes {
			k.Nodes = s.nodeNames()
		}
		crons = append(crons, k)
	}
	var churns action.Churns
	for _, ch := range spec.Churn {
		churns = append(churns, action.Churn{
			Every: ch.Every.Duration, From: ch.From.Duration, Until: ch.Until.Duration, Workload: ch.Workload, Force: ch.Force,
		})
	}
	cfg.Background = []cluster.Background{crons, churns, s.hazards(crons)}
	for _, e := range spec.Timeline {
		cfg.Script = append(cfg.Script, cluster.Entry{At: e.At.Duration, Action: e.Action, Ref: action.Ref(e.Action), MayFail: spec.MayFail || e.MayFail})
	}
	return cfg
}

func (s *Scenario) nodeNames() []string {
	var out []string
	for _, o := range s.Objects {
		if o.Kind == "Node" {
			out = append(out, o.Name)
		}
	}
	return out
}
