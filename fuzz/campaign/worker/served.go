package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/coverage"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/process"
	"ipamsim/fuzz/space"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/strategy"
)

// ask is a request from a worker to its worker process.
type ask struct {
	Spec *queue.Spec `json:",omitempty"` // begin a campaign
	// Otherwise one run of Source with Seed. Signature selects a failure to record, after
	// shrinking it if Shrink is set.
	Source    int
	Seed      uint64
	Signature string        `json:",omitempty"`
	Shrink    bool          `json:",omitempty"`
	Time      time.Duration `json:",omitempty"` // for shrinking; 0 is no limit
	Etcd      bool          `json:",omitempty"` // use etcd whatever the store of the campaign
}

// answer is the reply to ask.
type answer struct {
	Steps    int
	Unknown  bool          `json:",omitempty"`
	Hits     []hit         `json:",omitempty"`
	Seen     *queue.Sights `json:",omitempty"`
	Sights   queue.Sighted `json:",omitzero"`
	Defect   string        `json:",omitempty"`
	Refused  string        `json:",omitempty"` // why the source cannot run
	Hung     string        `json:",omitempty"` // why the worker process has to end
	Stacks   string        `json:",omitempty"`
	Over     bool          `json:",omitempty"` // all schedules are explored
	Kept     []queue.Kept  `json:",omitempty"`
	Classes  []model.Class `json:",omitempty"` // classes of actions of a generated scenario
	Repeated reports.Repeated
	// Point is the compressed result of a point of a plan.
	Point []byte `json:",omitempty"`
}

// served is the state of a worker process between requests.
type served struct {
	runner        *scenarios.Runner
	managers      scenarios.Managers
	spec          queue.Spec
	parsed        map[int]*scenarios.Scenario
	reported      queue.Reported
	walk          *strategy.Exhaustive    // for a source that is explored as a whole
	walked        uint64                  // its runs so far
	kept          map[string]bool         // signatures that have a finding
	confirmations map[string]finding.Real // the last confirmation by fingerprint
	plan          *parsedPlan             // for a plan
}

// Stuck returns why the run got stuck, for process.Answer.
func (a *answer) Stuck() (cause, stacks string) { return a.Hung, a.Stacks }

// BeforeRun is a hook for tests, which kill the process in it.
var BeforeRun = func(source int, seed uint64) {}

// AfterRun is a hook for tests, which simulate a store in memory that differs from etcd.
var AfterRun = func(*reports.Report) {}

// Serve answers the requests of a worker until its input ends, with an etcd in dir. It also
// returns after a run that got stuck, because the goroutines of its bubble cannot be ended.
func Serve(ctx context.Context, managers scenarios.Managers, in io.Reader, out io.Writer, dir string) error {
	runner, err := scenarios.NewRunnerIn(dir, process.Die)
	if err != nil {
		return err
	}
	c := &served{runner: runner, managers: managers}
	err = process.Serve(in, out, func(q *ask) process.Answer {
		if q.Spec != nil {
			c.begins(*q.Spec)
			return nil
		}
		return c.do(ctx, *q)
	})
	return errors.Join(err, runner.Close())
}

func (c *served) begins(s queue.Spec) {
	c.spec, c.parsed = s, map[int]*scenarios.Scenario{}
	c.plan, c.confirmations = nil, nil
	c.kept, c.reported = map[string]bool{}, queue.Reported{}
}

func (c *served) do(ctx context.Context, q ask) *answer {
	if c.spec.Plan() {
		return c.point(ctx, q)
	}
	a := &answer{}
	sc, err := c.spec.World(c.managers, q.Source, q.Seed, c.parsed)
	if err != nil {
		return a.broken(c.spec, q, err)
	}
	o := c.spec.Options(q.Source, q.Seed)
	if q.Etcd {
		o.Store = scenarios.Etcd
	}
	whole := c.spec.Whole() && q.Source != queue.CanarySource
	if whole {
		if a.Over = !c.begin(q.Seed); a.Over {
			return a
		}
		o.Walk = c.walk
	}
	BeforeRun(q.Source, q.Seed)
	rep, err := c.runner.Run(ctx, sc, o)
	if err != nil {
		return a.broken(c.spec, q, err)
	}
	AfterRun(rep)
	if hermetic.Enabled && rep.Foreign != 0 {
		a.Defect = fmt.Sprintf("%s seed %d: %d wake-ups from outside the bubble: it may not repeat", rep.Scenario, rep.Seed, rep.Foreign)
	}
	if c.spec.Strategy == queue.Twice && q.Signature == "" {
		c.twice(ctx, sc, o, rep, a)
	}
	a.Steps, a.Unknown, a.Hits = len(rep.Trace.Steps), rep.Reason != "", hits(rep)
	switch {
	case q.Signature != "":
		c.confirmed(ctx, sc, o, rep, q, a)
		return a
	case whole: // the run has no seed, so the failure cannot be recorded later
		for _, h := range a.Hits {
			if q.Signature, q.Shrink = h.Signature, q.Time == 0 || q.Time > queue.ShrinkMin; !c.kept[h.Signature] {
				c.kept[h.Signature] = true
				c.confirmed(ctx, sc, o, rep, q, a)
			}
		}
	}
	a.Classes = space.ClassesOf(&sc.Doc.Spec)
	if q.Source != queue.CanarySource { // the canary's states do not count
		states, allocators, pairs := coverage.Of(rep)
		a.Sights = queue.Sighted{States: uint64(len(states)), Allocators: uint64(len(allocators))}
		a.Seen = c.reported.Sights(coverage.Run{Source: q.Source, Seed: q.Seed}, pairs, states, allocators)
	}
	return a
}

// begin starts the next run of an exploration as a whole. It returns false if there is none, or
// if this worker process did not do the previous one.
func (c *served) begin(n uint64) bool {
	if n == 1 {
		c.walk, c.walked = strategy.NewExhaustive(bounds), 0
	}
	if c.walk == nil || n != c.walked+1 {
		return false
	}
	c.walked++
	return c.walk.Begin(n - 1)
}

// bounds of an exploration as a whole: at any decision at most one deviation of each kind.
var bounds = strategy.Bounds{Depth: strategy.Unbounded, Preemptions: 1, Delays: 1, Elapses: 1, Faults: 1, Reorders: strategy.Unbounded}

// twice repeats a run, on etcd if the first was in memory, and reports a defect if the two differ.
func (c *served) twice(ctx context.Context, sc *scenarios.Scenario, o scenarios.Options, rep *reports.Report, a *answer) {
	if rep.Store == scenarios.Memory {
		judge, err := c.runner.Confirm(ctx, sc, o, rep)
		if err != nil {
			a.Defect = fmt.Sprintf("%s seed %d: %v", rep.Scenario, rep.Seed, err)
		}
		a.repeated(judge)
		return
	}
	again, err := c.runner.Run(ctx, sc, o)
	switch {
	case err != nil:
		a.Defect = fmt.Sprintf("%s seed %d: the second time: %v", rep.Scenario, rep.Seed, err)
	case again.Digest != rep.Digest || again.StoreDigest != rep.StoreDigest:
		a.Defect = fmt.Sprintf("%s seed %d is not deterministic: digests %s and %s, of the store %s and %s",
			rep.Scenario, rep.Seed, rep.Digest, again.Digest, rep.StoreDigest, again.StoreDigest)
	}
}

// repeated counts the repetitions that a report needed.
func (a *answer) repeated(rep *reports.Report) {
	if rep != nil {
		a.Repeated.Add(rep.Repeated)
	}
}

// broken sets the answer for a run that did not end or did not begin.
func (a *answer) broken(s queue.Spec, q ask, err error) *answer {
	var bad *strict.Error
	var stuck *sim.Stuck
	switch {
	case errors.As(err, &stuck):
		a.Hung, a.Stacks = stuck.Error(), stuck.Stacks
	case errors.As(err, &bad) && q.Source >= 0 && s.Sources[q.Source].Space == "":
		a.Refused = bad.Error()
	default:
		a.Defect = fmt.Sprintf("source %d seed %d: %v", q.Source, q.Seed, err)
	}
	return a
}
