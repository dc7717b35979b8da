package campaign

import (
	"context"
	"time"

	"ipamsim/fuzz/campaign/queue"
)

// plan requests shards while fewer are open than the workers can take.
func (c *coordinator) plan(ctx context.Context) error {
	if !c.Spec.Plan() && !c.state.canary {
		if err := c.ask(ctx, queue.Shard{Kind: queue.Canary, Source: queue.CanarySource, From: 1, Runs: canaryRuns}); err != nil {
			return err
		}
	}
	if err := c.planFindings(ctx); err != nil {
		return err
	}
	if c.Spec.Whole() {
		for n := range c.Spec.Sources {
			s := queue.Shard{Kind: queue.Explore, Source: n, From: 1, Runs: c.share(n), Whole: true}
			if c.Time > 0 {
				s.Time = max(1, c.spare())
			}
			if err := c.ask(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
	for c.under(queue.Explore)+c.under(queue.Plan) < c.window {
		s, ok := c.next()
		if !ok {
			return nil
		}
		if err := c.ask(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// widen doubles the window if workers on other machines have emptied the queue. Their number is
// not known.
func (c *coordinator) widen(ctx context.Context) error {
	if c.Link == nil || c.window >= windowMax {
		return nil
	}
	waiting, err := c.Waiting(ctx)
	if err == nil && waiting == 0 {
		c.window *= 2
	}
	return err
}

// windowMax is the number of open shards that keeps about a hundred machines busy.
const windowMax = 4096

// ask requests a shard, unless it was requested or done in this epoch.
func (c *coordinator) ask(ctx context.Context, s queue.Shard) error {
	s.Epoch = c.state.epoch
	if _, waits := c.asked[s.Key()]; waits || c.state.took[s.Key()] {
		return nil
	}
	c.asked[s.Key()] = s
	return c.Put(ctx, s)
}

// under returns the number of open shards of a kind.
func (c *coordinator) under(k queue.Kind) (n int) {
	for _, s := range c.asked {
		if s.Kind == k {
			n++
		}
	}
	return n
}

// next returns the next seeds to run, from the source that is furthest behind. Each source gets
// its share of the runs, so that the seeds of a campaign depend on the number of runs only.
func (c *coordinator) next() (queue.Shard, bool) {
	best, left := -1, uint64(0)
	for n := range c.Spec.Sources {
		if c.planned[n] == nil {
			c.planned[n] = &queue.Spans{}
		}
		done, share := c.planned[n].Len(), c.share(n)
		if done < share && (best < 0 || done < c.planned[best].Len()) {
			best, left = n, share-done
		}
	}
	if best < 0 {
		return queue.Shard{}, false
	}
	kind, g := queue.Explore, c.planned[best].Gap(c.Spec.First, min(c.size(), left))
	if c.Spec.Plan() {
		kind, g = queue.Plan, c.firstOf(c.planned[best].Gap(c.Spec.First, min(shardMax, left)))
	}
	c.planned[best].Add(g)
	return queue.Shard{Kind: kind, Source: best, From: g.From, Runs: g.To - g.From}, true
}

// share returns a source's share of the runs.
func (c *coordinator) share(source int) uint64 {
	if c.Runs == 0 {
		return 1 << 62
	}
	n := uint64(len(c.Spec.Sources))
	if uint64(source) < c.Runs%n {
		return c.Runs/n + 1
	}
	return c.Runs / n
}

// size returns the estimated number of runs that take a worker shardTime. Shorter shards would cost
// more communication, longer ones would lose more work if the worker dies.
func (c *coordinator) size() uint64 {
	if c.state.runs == 0 {
		return 1 // for a first estimate
	}
	per := c.state.busy / time.Duration(c.state.runs)
	return uint64(min(max(1, shardTime/max(per, time.Microsecond)), shardMax))
}

const (
	shardTime  = 3 * time.Second
	pointsTime = time.Second // after which a user expects progress
	shardMax   = 1000
)

// planFindings requests findings for the failures that have none. Each failure is shrunk from a few
// of its shortest instances, with a time limit each; without time, or if that did not work, it
// is recorded as it is.
func (c *coordinator) planFindings(ctx context.Context) error {
	exploring := c.phase == queue.Exploring
	if all := c.state.busy + c.state.shrinking; exploring && c.state.shrinking > all*2/5 {
		return nil // exploring has priority
	}
	left, shrinks, most := c.spare(), c.shrinksMax(), queue.Thorough.Time
	if exploring { // no other shrinking waits for the time
		most *= time.Duration(queue.Thorough.More)
	}
	wanted := c.state.open()
	if left >= queue.Thorough.Time {
		wanted = append(wanted, c.state.doubtful()...)
	}
	for _, sig := range wanted {
		if exploring && c.under(queue.Shrink)+c.under(queue.Record) >= shrinks {
			return nil
		}
		cl := c.state.classes[sig]
		if exploring && len(cl.Instances) < queue.InstancesMax && c.now()-cl.FirstAfter < patience {
			continue // a shorter instance may come
		}
		i := c.state.next(sig)
		s := queue.Shard{Kind: queue.Shrink, Source: i.Source, From: i.Seed, Signature: sig, Time: min(left, most)}
		switch {
		case left < queue.ShrinkMin || c.state.took[s.Key()]:
			if c.state.of[sig] != "" {
				continue // it is recorded
			}
			s.Kind, s.Time = queue.Record, 0
		case c.under(queue.Shrink) >= shrinks:
			continue // it would spend its time waiting
		}
		if c.working(s) {
			continue
		}
		if err := c.ask(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// shrinksMax returns how many failures are shrunk at a time: while exploring goes on by half of the
// workers, afterwards by all.
func (c *coordinator) shrinksMax() int {
	switch {
	case c.phase == queue.Exploring:
		return max(1, c.Workers/2)
	case c.Link != nil:
		return c.window // the number of workers is not known
	}
	return max(1, c.Workers)
}

// patience is the time after the first instance of a failure in which shorter ones may come.
const patience = 5 * time.Second

// now returns the time since the campaign began.
func (c *coordinator) now() time.Duration { return c.state.elapsed(time.Now().Add(c.skew)) }

// canaryRuns is the number of canary runs. Each should fail.
const canaryRuns = 3
