// Package gate runs a library of scenarios in several processes and says what is
// different from a baseline.
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

// Gate is what is to be run, and how.
type Gate struct {
	Scenarios []*scenarios.Scenario
	Baseline  *baseline.Baseline
	All       bool // the scenarios are all there are
	Parallel  int  // processes at a time, at least 1
	SeedsMax  int  // of each scenario in an update; 0: as many as baseline.WideOf says
	// Budget is how long Run may take; 0: as long as it likes. What there is no time for
	// is left out, and the outcome says so (baseline.LeftOut).
	Budget time.Duration
	Search Search // after everything else, in what is left of Budget
	Twice  bool   // every run, and not only those of the scenarios' own seeds that are not long
	// Progress is told how many runs are done and how many there will be.
	Progress func(done, all int)
}

// Run does every run and compares. That of a scenario's own seed is done as the scenario says
// and, unless it is long, twice, on etcd and on the store in memory, in different processes; those of others with
// cheap controllers (scenarios.WithSimpleControllers) and in memory, or twice, too (Twice). A scenario that is red whatever its other runs show
// is done no more of. The error says that nothing was proven: ctx ended, or no process
// could be started.
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

// Update does what Run does, and as many runs more of what is different as tell chance
// from change, and makes the baseline that there is from now on.
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

// session is where the runs take place.
type session struct {
	*Gate
	scratch   *scratch.Dir
	mu        sync.Mutex // guards what follows
	done, all int
	repeated  reports.Repeated
	early     bool // what is red already is not run any more
	twice     twice
	decided   map[int]bool // scenarios that are
}

// twice is which runs are done on both stores.
type twice int8

const (
	short  twice = iota // those of the scenarios' own seeds that are not long
	always              // all
	never               // none: each in memory
)

// stores of the run of a scenario's own seed, or of another.
func (t twice) stores(own, long bool) []string {
	switch {
	case t == always || t == short && own && !long:
		return []string{scenarios.Etcd, scenarios.Memory}
	case t == short && own:
		return []string{scenarios.Etcd}
	}
	return []string{scenarios.Memory}
}

// longSteps: runs of more are done twice by make nightly alone, as TestDeterminism does them.
const longSteps = 2500

// firsts runs the first seeds of every scenario.
func (h *session) firsts(ctx context.Context) ([]baseline.Result, error) {
	results := make([]baseline.Result, len(h.Scenarios))
	var tasks []*task
	var runs [][]*task // each on one store, or on both
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
			before = nil // what it came to is said by the file
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

// leftOut is what there was no time for.
func (h *session) leftOut(r *baseline.Result, what string) baseline.Change {
	return baseline.Change{Kind: baseline.LeftOut, Regression: true, What: "scenario", Before: "judged", After: "not judged",
		Sentence: fmt.Sprintf("%s not run: the time of this gate, %s, was up.", what, h.Budget), Command: "ipamsim gate " + reports.Shell(r.File)}
}

// Name of a scenario in a gate. That of a finding is its file's: what stands in it is
// the name of the scenario that it was found in.
func Name(s *scenarios.Scenario) string {
	if s.Doc.Spec.Schedule != nil {
		return strings.TrimSuffix(filepath.Base(s.File), ".yaml")
	}
	return s.Name()
}

// weight of a run: what takes long begins first, so that no slot runs it alone at the end.
func (h *session) weight(s *scenarios.Scenario) int {
	w := 1000
	if e := h.Baseline.Entry(s.Name()); e != nil {
		w = e.Runs[0].Steps
	}
	if s.Manager().Primary != nil { // whose plugin sends many more messages
		w *= 3
	}
	return w
}

// wider runs more seeds of some results, in memory: memory and etcd were
// just compared. They come in rounds, each as many as all before, so that what is red
// whatever comes is noticed early.
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

// firstRound is how many seeds there are of a scenario after the first round.
const firstRound = 12

// stories runs regressions again to record the timeline that led to each.
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
	for i, t := range tasks { // there may have been no time for all
		seen := t.answer.Seen[whose[i].What]
		whose[i].Timeline, whose[i].Calls = seen.Timeline, seen.Calls
	}
	return nil
}

// noResult is the result index of a story.
const noResult = -1

// storiesMax is more than a reader needs.
const storiesMax = 20

// troubles are what two runs that should be the same show of ipamsim itself.
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
		return trouble(baseline.Nondeterminism, "the same twice", "not the same", "With seed %d its process died once, and not again: %s", a.Seed, d.Cause)
	case x.Digest != y.Digest:
		return trouble(baseline.Nondeterminism, "the same twice", "not the same", "With seed %d the schedule logs of two runs differ, the first on etcd, the second in memory: %s, then %s.", a.Seed, x.Digest, y.Digest)
	case x.Store != y.Store:
		return trouble(baseline.Nondeterminism, "the same twice", "not the same", "With seed %d the same schedule leaves another store on etcd than in memory: %s, then %s.", a.Seed, x.Store, y.Store)
	case !slices.Equal(x.Violated, y.Violated):
		return trouble(baseline.Nondeterminism, "the same twice", "not the same", "With seed %d the same schedule is judged otherwise the second time: %v, then %v.", a.Seed, x.Violated, y.Violated)
	}
	return nil
}
