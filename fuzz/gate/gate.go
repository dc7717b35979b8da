// Package gate runs a library of scenarios in several processes and compares the results with a
// baseline.
package gate

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ipamsim/reports"
	"ipamsim/reports/baseline"
	"ipamsim/scenarios"
	"ipamsim/sim/scratch"
)

// Gate is the configuration of a gate.
type Gate struct {
	Scenarios []*scenarios.Scenario
	Baseline  *baseline.Baseline
	All       bool // the scenarios are the whole library
	Parallel  int  // processes at a time, at least 1
	SeedsMax  int  // seeds of each scenario in an update; 0: as many as baseline.WideOf returns
	// Budget is the time limit of Run; 0: none. Scenarios for which no time is left are
	// reported as baseline.LeftOut.
	Budget time.Duration
	Search Search // at the end, within the rest of Budget
	Twice  bool   // do every run on both stores, not only short runs of the scenarios' own seeds
	// Progress is called with the number of runs that are done, and of all planned runs.
	Progress func(done, all int)
}

// Run does all runs and compares them with the baseline.
//
// The run of a scenario's own seed uses the controllers that the scenario requests. It takes
// place on etcd and, unless it is long, also on the store in memory, in another process. Other
// seeds run in memory with simple controllers (scenarios.WithSimpleControllers); with Twice they
// run on both stores, too. A scenario that is red whatever its other runs show is not run again.
//
// An error means that nothing was proven: ctx ended, or no process could be started.
func (g *Gate) Run(ctx context.Context) (*baseline.Outcome, error) {
	began := time.Now()
	h, err := g.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = h.scratch.Remove() }()
	if g.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, g.Budget, errLate)
		defer cancel()
	}
	h.early = true
	if g.Twice {
		h.twice = always
	}
	results, err := h.firsts(ctx)
	if err == nil {
		err = h.wider(ctx, results, baseline.Doubts(g.Baseline, results), g.wideOf)
	}
	if err != nil {
		return nil, err
	}
	o := baseline.Compare(g.Baseline, results, g.All)
	if err := h.stories(ctx, o); err != nil {
		return nil, err
	}
	if g.Search.Time > 0 {
		if err := h.search(ctx, o); err != nil {
			return nil, err
		}
	}
	o.Elapsed, o.Repeated = time.Since(began), h.repeated
	return o, nil
}

// Update does what Run does, repeats runs that differ with enough seeds to distinguish change
// from chance, and returns the new baseline.
func (g *Gate) Update(ctx context.Context) (*baseline.Baseline, *baseline.Outcome, error) {
	began := time.Now()
	h, err := g.open()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = h.scratch.Remove() }()
	h.twice = always
	results, err := h.firsts(ctx)
	if err == nil {
		wide := func(r *baseline.Result) int {
			n := baseline.WideOf(r.Runs[0].Steps)
			if g.SeedsMax > 0 {
				n = min(n, g.SeedsMax)
			}
			return max(n, baseline.Seeds)
		}
		err = h.wider(ctx, results, baseline.Stale(g.Baseline, results, wide), wide)
	}
	if err != nil {
		return nil, nil, err
	}
	o := baseline.Compare(g.Baseline, results, g.All)
	o.Elapsed, o.Repeated = time.Since(began), h.repeated
	return baseline.Of(g.Baseline, results, g.All), o, nil
}

func (g *Gate) wideOf(r *baseline.Result) int { return g.Baseline.Entry(r.Scenario).Wide }

func (g *Gate) open() (*session, error) {
	room, err := scratch.New("workers")
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	return &session{Gate: g, scratch: room, decided: map[int]bool{}}, nil
}

// session is one execution of a gate.
type session struct {
	*Gate
	scratch   *scratch.Dir
	mu        sync.Mutex // guards what follows
	done, all int
	repeated  reports.Repeated
	early     bool // do not continue scenarios that are already red
	twice     twice
	decided   map[int]bool // scenarios that are red already
}

// twice selects the runs that are done on both stores.
type twice int8

const (
	short  twice = iota // short runs of the scenarios' own seeds
	always              // all runs
	never               // no run: all are in memory
)

// stores returns the stores for a run: own is whether it uses the scenario's own seed.
func (t twice) stores(own, long bool) []string {
	switch {
	case t == always || t == short && own && !long:
		return []string{scenarios.Etcd, scenarios.Memory}
	case t == short && own:
		return []string{scenarios.Etcd}
	}
	return []string{scenarios.Memory}
}

// longSteps is the length above which a run is done on both stores only by make nightly.
const longSteps = 2500

// firsts runs the first seeds of every scenario.
func (h *session) firsts(ctx context.Context) ([]baseline.Result, error) {
	results := make([]baseline.Result, len(h.Scenarios))
	var tasks []*task
	var runs [][]*task // of the same seed, on one store or on both
	for i, s := range h.Scenarios {
		r := &results[i]
		*r = baseline.Result{Scenario: Name(s), File: s.File, Line: s.ExpectLine(), Title: s.Doc.Spec.Title, Manager: s.Doc.Spec.IPAM, Upstream: s.Manager().Upstream,
			Own: s.Seed(), Cheap: s.WithSimpleControllers() != s}
		if e := s.Doc.Spec.Expect; e != nil {
			r.Known = slices.Concat(e.Violations, e.May)
		}
		seeds := baseline.SeedsOf(s.Seed(), baseline.Seeds)
		rec, before := s.Doc.Spec.Schedule, h.Baseline.Entry(r.Scenario)
		if rec != nil {
			before = nil // a finding's file has the expected result
			seeds = []uint64{rec.Seed}
			r.Record = &baseline.Record{Upstream: rec.Upstream, Violated: slices.Sorted(slices.Values(r.Known))}
		}
		long := before != nil && before.Runs[0].Steps > longSteps
		for n, seed := range seeds {
			first := len(tasks)
			for _, store := range h.twice.stores(n == 0, long) {
				t := &task{ask: ask{File: s.File, Seed: seed, Recorded: rec != nil, Store: store}, result: i, weight: h.weight(s)}
				if before != nil {
					t.before = before.Run(seed)
				}
				tasks = append(tasks, t)
			}
			runs = append(runs, tasks[first:len(tasks):len(tasks)])
		}
	}
	if err := h.do(ctx, tasks); err != nil {
		return nil, err
	}
	left := make([]int, len(results))
	for _, run := range runs {
		judge, again := run[0], run[len(run)-1]
		r := &results[judge.result]
		if r.Wall += judge.wall; again != judge {
			r.Wall += again.wall
		}
		switch {
		case judge.done && again.done:
			r.Runs = append(r.Runs, judge.answer.run())
			r.Troubles = append(r.Troubles, troubles(r, judge, again)...)
		case judge.hopeless():
			r.Runs = append(r.Runs, judge.answer.run())
		case again.hopeless():
			r.Runs = append(r.Runs, again.answer.run())
		case !h.decided[judge.result]:
			left[judge.result]++
		}
	}
	for i := range results {
		if r := &results[i]; left[i] > 0 {
			r.Troubles = append(r.Troubles, h.leftOut(r, fmt.Sprintf("%d of its %d seeds were", left[i], left[i]+len(r.Runs))))
		}
	}
	return results, nil
}

// leftOut is the change that reports a scenario for which no time was left.
func (h *session) leftOut(r *baseline.Result, what string) baseline.Change {
	return baseline.Change{Kind: baseline.LeftOut, Regression: true, What: "scenario", Before: "judged", After: "not judged",
		Sentence: fmt.Sprintf("%s not run: the time of this gate, %s, was up.", what, h.Budget), Command: "ipamsim gate " + reports.Shell(r.File)}
}

// Name returns the name of a scenario in a gate. For a finding it is the name of the file: the
// document has the name of the scenario in which it was found.
func Name(s *scenarios.Scenario) string {
	if s.Doc.Spec.Schedule != nil {
		return strings.TrimSuffix(filepath.Base(s.File), ".yaml")
	}
	return s.Name()
}

// weight orders runs by their expected duration: the longest start first, to keep all slots busy.
func (h *session) weight(s *scenarios.Scenario) int {
	w := 1000
	if e := h.Baseline.Entry(s.Name()); e != nil {
		w = e.Runs[0].Steps
	}
	if s.Manager().Primary != nil { // its plugin sends many more messages
		w *= 3
	}
	return w
}

// wider runs more seeds of some results, in memory, because memory and etcd have just been
// compared. Each round doubles the number of seeds, so that a scenario that is red in any case is
// noticed early.
func (h *session) wider(ctx context.Context, results []baseline.Result, which []int, wide func(*baseline.Result) int) error {
	for _, i := range which {
		results[i].Wide = slices.Clone(results[i].Runs)
	}
	for from, n := 0, firstRound; len(which) > 0; from, n = n, 2*n {
		var tasks []*task
		var next []int
		for _, i := range which {
			r, s := &results[i], h.Scenarios[i]
			seeds := baseline.SeedsOf(s.Seed(), wide(r))
			have := min(len(seeds), max(len(r.Runs), from))
			for _, seed := range seeds[have:min(len(seeds), n)] {
				tasks = append(tasks, &task{ask: ask{File: s.File, Seed: seed, Store: scenarios.Memory}, result: i, weight: h.weight(s)})
			}
			if n < len(seeds) {
				next = append(next, i)
			}
		}
		if err := h.do(ctx, tasks); err != nil {
			return err
		}
		left := map[int]int{}
		for _, t := range tasks {
			if !t.done {
				left[t.result]++
				continue
			}
			r := &results[t.result]
			r.Wall += t.wall
			r.Troubles = append(r.Troubles, troubles(r, t, t)...)
			if t.answer.Defect == "" {
				r.Wide = append(r.Wide, t.answer.run())
			}
		}
		which = slices.DeleteFunc(next, func(i int) bool { return left[i] > 0 || h.early && baseline.Decided(h.Baseline, &results[i]) })
		for i, n := range left {
			if r := &results[i]; n > 0 && !baseline.Decided(h.Baseline, r) {
				r.Troubles = append(r.Troubles, h.leftOut(r, fmt.Sprintf("Of the %d seeds that separate a change from chance, %d were", wide(r), wide(r)-len(r.Wide))))
			}
		}
	}
	return nil
}

// firstRound is the number of seeds of a scenario after the first round.
const firstRound = 12

// stories repeats the runs of regressions to record their timelines.
func (h *session) stories(ctx context.Context, o *baseline.Outcome) error {
	var tasks []*task
	var whose []*baseline.Change
	for i := range o.Rows {
		for j := range o.Rows[i].Changes {
			c := &o.Rows[i].Changes[j]
			if c.Kind == baseline.NewViolation && c.Step > 0 && len(tasks) < storiesMax {
				tasks = append(tasks, &task{ask: ask{File: o.Rows[i].File, Seed: c.Seed, Store: scenarios.Memory, Story: true}, result: noResult})
				whose = append(whose, c)
			}
		}
	}
	if err := h.do(ctx, tasks); err != nil {
		return err
	}
	for i, t := range tasks { // some may have had no time
		seen := t.answer.Seen[whose[i].What]
		whose[i].Timeline, whose[i].Calls = seen.Timeline, seen.Calls
	}
	return nil
}

// noResult is the result index of a story.
const noResult = -1

// storiesMax is more than a reader needs.
const storiesMax = 20

// troubles compares two runs that should be the same. A difference is a defect of ipamsim.
func troubles(r *baseline.Result, a, b *task) []baseline.Change {
	trouble := func(kind baseline.Kind, before, after, format string, args ...any) []baseline.Change {
		return []baseline.Change{{Kind: kind, Regression: true, What: "run", Before: before, After: after, Sentence: fmt.Sprintf(format, args...),
			Command: r.Command(a.Seed) + " --verify", Seed: a.Seed}}
	}
	x, y := &a.answer.Run, &b.answer.Run
	switch {
	case a.answer.Defect != "" || b.answer.Defect != "":
		return trouble(baseline.CannotRun, "ran", "did not", "With seed %d ipamsim could not run it: %s", a.Seed, cmp.Or(a.answer.Defect, b.answer.Defect))
	case a.again != nil || b.again != nil:
		d := cmp.Or(a.again, b.again)
		return trouble(baseline.Nondeterminism, "the same twice", "not the same", "With seed %d its process died once, but not when the run was repeated: %s", a.Seed, d.Cause)
	case x.Digest != y.Digest:
		return trouble(baseline.Nondeterminism, "the same twice", "not the same", "With seed %d the schedule logs of two runs differ, the first on etcd, the second in memory: %s, then %s.", a.Seed, x.Digest, y.Digest)
	case x.Store != y.Store:
		return trouble(baseline.Nondeterminism, "the same twice", "not the same", "With seed %d the same schedule leaves another store on etcd than in memory: %s, then %s.", a.Seed, x.Store, y.Store)
	case !slices.Equal(x.Violated, y.Violated):
		return trouble(baseline.Nondeterminism, "the same twice", "not the same", "With seed %d the same schedule has other violations the second time: %v, then %v.", a.Seed, x.Violated, y.Violated)
	}
	return nil
}
