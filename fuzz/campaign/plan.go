package campaign

import (
	"context"
	"time"

	"ipamsim/fuzz/campaign/queue"
)

// plan asks for work while there is less under way than the workers could take.
func (c *coordinator) plan(ctx context.Context) error {
	if !c.Spec.Plan() && !c.state.canary {
		if err := c.ask(ctx, queue.Shard{Kind: queue.Canary, Source: queue.CanarySource, From: 1, Runs: canaryRuns}); err != nil {
			return err
		}
	}
	if err := c.polish(ctx); err != nil {
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

// widen the window if there may be workers that nobody here knows of, and nothing
// waits for them.
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

// windowMax shards under way keep some hundred machines busy.
const windowMax = 4096

// ask for a shard that was neither asked for nor done in this epoch.
func (c *coordinator) ask(ctx context.Context, s queue.Shard) error {
	s.Epoch = c.state.epoch
	if _, waits := c.asked[s.Key()]; waits || c.state.took[s.Key()] {
		return nil
	}
	c.asked[s.Key()] = s
	return c.Put(ctx, s)
}

// under is how many shards of a kind are under way.
func (c *coordinator) under(k queue.Kind) (n int) {
	for _, s := range c.asked {
		if s.Kind == k {
			n++
		}
	}
	return n
}

// next is the next seeds to run, of the source that is furthest behind. Each
// source gets its share of the runs, so that which seeds a campaign of so many
// runs consists of depends on nothing else.
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
		kind, g = queue.Plan, c.some(c.planned[best].Gap(c.Spec.First, min(shardMax, left)))
	}
	c.planned[best].Add(g)
	return queue.Shard{Kind: kind, Source: best, From: g.From, Runs: g.To - g.From}, true
}

// share of a source in the runs.
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

// size is how many runs take a worker shardTime, as far as one can tell: much
// less work would be lost in talk, much more if the worker dies.
func (c *coordinator) size() uint64 {
	if c.state.runs == 0 {
		return 1 // so that something is known soon
	}
	per := c.state.busy / time.Duration(c.state.runs)
	return uint64(min(max(1, shardTime/max(per, time.Microsecond)), shardMax))
}

const (
	shardTime  = 3 * time.Second
	pointsTime = time.Second // what a person waits for the bar to move
	shardMax   = 1000
)

// polish asks for findings of the failures that have none: small ones, from the
// shortest of a few instances in so much time each, or, if there is no time or it did
// not work out, as they are.
func (c *coordinator) polish(ctx context.Context) error {
	exploring := c.phase == queue.Exploring
	if all := c.state.busy + c.state.shrinking; exploring && c.state.shrinking > all*2/5 {
		return nil // exploring comes first
	}
	left, places, most := c.spare(), c.places(), queue.Thorough.Time
	if exploring { // nobody else waits for the time
		most *= time.Duration(queue.Thorough.More)
	}
	wanted := c.state.open()
	if left >= queue.Thorough.Time {
		wanted = append(wanted, c.state.doubtful()...)
	}
	for _, sig := range wanted {
		if exploring && c.under(queue.Shrink)+c.under(queue.Record) >= places {
			return nil
		}
		cl := c.state.classes[sig]
		if exploring && len(cl.Instances) < queue.InstancesMax && c.now()-cl.FirstAfter < patience {
			continue // a shorter one may come
		}
		i := c.state.next(sig)
		s := queue.Shard{Kind: queue.Shrink, Source: i.Source, From: i.Seed, Signature: sig, Time: min(left, most)}
		switch {
		case left < queue.ShrinkMin || c.state.took[s.Key()]:
			if c.state.of[sig] != "" {
				continue // it is kept
			}
			s.Kind, s.Time = queue.Record, 0
		case c.under(queue.Shrink) >= places:
			continue // it would wait while its time runs out
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

// places is how many failures are made small at a time: while exploring goes on by
// half of the workers, afterwards by all there are.
func (c *coordinator) places() int {
	switch {
	case c.phase == queue.Exploring:
		return max(1, c.Workers/2)
	case c.Link != nil:
		return c.window // nobody here knows how many they are
	}
	return max(1, c.Workers)
}

// patience: so long the first instance of a failure waits for others.
const patience = 5 * time.Second

// now is how long the campaign has been at work.
func (c *coordinator) now() time.Duration { return c.state.elapsed(time.Now().Add(c.skew)) }

// canaryRuns: each of them fails, if the eye is open.
const canaryRuns = 3
