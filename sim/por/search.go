package por

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sync"
	"time"

	"ipamsim/sim"
)

// World makes one run. Search.Workers goroutines call it concurrently.
type World func(context.Context, Plan) (*Log, error)

// Search covers the schedules of a world within bounds.
type Search struct {
	World   World
	Bounds  Bounds
	Instant time.Duration // of the runs: sim.Options.Instant
	Until   time.Duration // no faults from then on; 0: always
	Workers int           // default 1
	// Probes is the number of random runs, without a bound on preemptions, before the first
	// walk, to learn dependences, and again after the last walk. If one of the latter
	// contradicts the relation, more is learned and everything is walked again.
	Probes int
	// Expected reports whether a violation is expected. Nil: all are unexpected.
	Expected func(Break) bool
	// Done are logs of an earlier search of the same world.
	Done []*Log
	// Report is called after each run, and Keep with the log of each run, one at a time.
	Report func(Progress)
	Keep   func(*Log) error
}

// Progress of a search.
type Progress struct {
	Bounds Bounds // that are being walked
	Runs   int
	Open   int // prefixes found so far whose continuation is unknown
	States int // number of states walked
}

// Result of a search.
type Result struct {
	Schedules *big.Int // number within the bounds; meaningless if the search is incomplete
	Runs      int      // number of runs, including those of earlier searches
	Probes    int      // number of random ones among them
	States    int
	Learned   int
	Covered   bool
	Broken    *Log     // the shortest run with an unexpected violation
	Expected  *Log     // the shortest run with an expected one
	Outside   *Log     // a probe with a violation beyond the bounds
	Shown     []string // the invariants that break within the bounds, sorted
	Reached   []Bounds // the widest bounds that were covered, in order
}

// ErrPartial is wrapped by the error of a search that could not complete.
var ErrPartial = errors.New("not covered")

// Cover searches until runs have shown every step of every schedule within the bounds, until a
// schedule has a violation, or until ctx ends. It returns a result in each case. It tries few
// preemptions and faults first, so the violation that it finds needs the fewest.
func (s *Search) Cover(ctx context.Context) (*Result, error) {
	c := &covering{Search: s, ctx: ctx, rel: NewRelation(), logs: s.Done, tried: map[string]int{}}
	c.result.Runs = len(s.Done)
	for _, l := range s.Done {
		c.probes = max(c.probes, l.Plan.Random)
		if l.Plan.Random != 0 {
			c.result.Probes++
		}
	}
	err := c.all()
	c.result.Learned = c.rel.Learned()
	if err != nil {
		return &c.result, fmt.Errorf("%w: %w", ErrPartial, err)
	}
	return &c.result, nil
}

type covering struct {
	*Search
	ctx    context.Context
	rel    *Relation
	logs   []*Log
	mu     sync.Mutex
	u      *universe
	tried  map[string]int // number of learned facts when a lead was followed, by its moves
	result Result
	probes uint64
	open   int
	level  Bounds
}

// all covers the bounds, and again if probes contradict the relation.
func (c *covering) all() error {
	var err error
	if c.u, err = build(c.rel, c.Instant, c.logs); err != nil {
		return err
	}
	if len(c.logs) == 0 {
		if err := c.follow([]lead{{}}); err != nil {
			return err
		}
	}
	for {
		if err := c.probe(); err != nil {
			return err
		}
		learned := c.rel.Learned()
		if err := c.levels(); err != nil || c.result.Broken != nil {
			return err
		}
		if err := c.probe(); err != nil {
			return err
		}
		if c.Probes == 0 || c.rel.Learned() == learned {
			c.result.Covered = true
			return nil
		}
	}
}

// levels covers the bounds, the narrowest first, until there is a violation.
func (c *covering) levels() error {
	c.result.Reached = nil
	for k := 0; k <= c.Bounds.sum(c.Bounds); k++ {
		for _, b := range c.Bounds.parts(k) {
			if err := c.cover(b); err != nil || c.broken(k) {
				return err
			}
			c.result.Reached = append(slices.DeleteFunc(c.result.Reached, func(o Bounds) bool { return o.within(b) }), b)
		}
	}
	return nil
}

// parts are the bounds within b that allow k deviations in total. If b allows any order of a
// process's messages, each of them does.
func (b Bounds) parts(k int) (out []Bounds) {
	for f := range min(k, b.Faults) + 1 {
		if b.anyOrder() {
			out = append(out, Bounds{k - f, f, b.Reorders})
			continue
		}
		for r := range min(k-f, b.Reorders) + 1 {
			out = append(out, Bounds{k - f - r, f, r})
		}
	}
	return slices.DeleteFunc(out, func(p Bounds) bool { return !p.within(b) })
}

// probe makes random runs.
func (c *covering) probe() error {
	var leads []lead
	for range c.Probes {
		c.probes++
		leads = append(leads, lead{random: c.probes})
	}
	return c.follow(leads)
}

// cover covers one level.
func (c *covering) cover(b Bounds) error {
	c.level = b
	for {
		w := &walk{ctx: c.ctx, u: c.u, bounds: b, until: forever}
		if c.Until > 0 {
			w.until = c.u.epochOf(c.Until) - 1
		}
		n, err := w.run()
		c.result.States = len(c.u.walked)
		if err != nil {
			return err
		}
		if len(w.leads) == 0 {
			c.result.Schedules = n
			return nil
		}
		if err := c.follow(w.leads); err != nil {
			return err
		}
		if c.broken(c.Bounds.sum(b)) {
			return nil
		}
	}
}

// broken reports whether a violation was found with at most so many preemptions and faults.
func (c *covering) broken(most int) bool {
	c.shortest()
	return c.result.Broken != nil && c.Bounds.sum(c.result.Broken.cost()) <= most
}

// sum is the number of deviations that b counts. Reorders do not count if b allows any order of
// a process's messages.
func (b Bounds) sum(of Bounds) int {
	if b.anyOrder() {
		of.Reorders = 0
	}
	return of.Preemptions + of.Faults + of.Reorders
}

// follow runs leads that no other run has covered in the meantime.
func (c *covering) follow(leads []lead) error {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	next := make(chan *lead)
	var wg sync.WaitGroup
	for range max(c.Workers, 1) {
		wg.Go(func() {
			for l := range next {
				if err := c.one(ctx, l); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range leads {
		c.mu.Lock()
		c.open = len(leads) - i
		known, stale := c.known(&leads[i]), c.u.stale() // the leads of a stale universe may be invalid
		c.mu.Unlock()
		if stale && leads[i].random == 0 || ctx.Err() != nil {
			break
		}
		if !known {
			next <- &leads[i]
		}
	}
	close(next)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if c.u.stale() {
		var err error
		c.u, err = build(c.rel, c.Instant, c.logs)
		return err
	}
	return nil
}

// known reports whether a run has covered a lead in the meantime.
func (c *covering) known(l *lead) bool {
	switch l.shows {
	case aStep:
		id, ok := c.u.byKey[l.key]
		return ok && c.u.events[id].known
	case aSight:
		_, ok := c.u.sights[l.key]
		return ok
	case anEnd:
		return c.u.ended(l.end)
	}
	return false
}

// one follows one lead by a run.
func (c *covering) one(ctx context.Context, l *lead) error {
	name := fmt.Sprint(l.moves, l.shows, l.key, l.end, l.random)
	c.mu.Lock()
	had, again := c.tried[name]
	again = again && had == c.u.learned
	c.mu.Unlock()
	if again {
		return fmt.Errorf("the same beginning leads nowhere twice: %v", l.moves[max(0, len(l.moves)-1):])
	}
	log, err := c.World(ctx, Plan{l.moves, l.random})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if log.Cut != "" {
		return fmt.Errorf("a run proves nothing: %s", log.Cut)
	}
	c.logs = append(c.logs, log)
	c.result.Runs++
	if log.Plan.Random != 0 {
		c.result.Probes++
	}
	if c.Keep != nil {
		if err := c.Keep(log); err != nil {
			return err
		}
	}
	c.tried[name] = c.u.learned
	if err = c.u.add(log); c.u.stale() {
		err = nil // all logs are read again with the learned facts
	} else if err == nil && !c.u.dirty {
		c.u.show()
	}
	if c.Report != nil {
		c.Report(Progress{c.level, c.result.Runs, c.open, c.result.States})
	}
	return err
}

// shortest finds the violation with the fewest deviations and steps, and all invariants that
// break within the bounds.
func (c *covering) shortest() {
	shown := map[string]bool{}
	for _, l := range c.logs {
		for i := range l.Breaks {
			b := &l.Breaks[i]
			to := &c.result.Broken
			switch {
			case !l.spent(b.Step).within(c.Search.Bounds):
				to = &c.result.Outside
			case c.Search.Expected != nil && c.Search.Expected(*b):
				to, shown[b.Invariant] = &c.result.Expected, true
			default:
				shown[b.Invariant] = true
			}
			if *to == nil || c.shorter(l, *to) {
				*to = l
			}
		}
	}
	c.result.Shown = slices.Sorted(maps.Keys(shown))
}

func (c *covering) shorter(a, b *Log) bool {
	if n, m := c.Bounds.sum(a.cost()), c.Bounds.sum(b.cost()); n != m {
		return n < m
	}
	return a.Breaks[0].Step < b.Breaks[0].Step
}

// cost is the number of deviations of a run until its first violation.
func (l *Log) cost() Bounds { return l.spent(l.Breaks[0].Step) }

// spent is the number of deviations in the first steps of a run.
func (l *Log) spent(first int) (b Bounds) {
	steps := l.Steps[:min(first, len(l.Steps))]
	var turn sim.ActorID
	for i, s := range steps {
		o := &l.Offers[s.Offer]
		if s.Outcome.Fault() {
			b.Faults++
		}
		if o.Actor != turn && l.waits(turn, len(l.Offers), i, s) {
			b.Preemptions++
		}
		if l.waits(o.Actor, s.Offer, i, s) {
			b.Reorders++
		}
		if s.Outcome == sim.Proceed {
			turn = o.Actor
		}
	}
	return b
}

// waits reports whether one of the first offers of a process could go at a step.
func (l *Log) waits(a sim.ActorID, first, step int, s Step) bool {
	taken := map[int]bool{}
	for _, t := range l.Steps[:step] {
		taken[t.Offer] = true
	}
	for i := range l.Offers[:first] {
		o := &l.Offers[i]
		if o.Actor == a && !taken[i] && o.Born <= step && (o.Gone < 0 || o.Gone > step) && o.Due <= s.At {
			return true
		}
	}
	return false
}
