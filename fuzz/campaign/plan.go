package campaign

import (
	"context"
	"time"
)

// plan asks for work while there is less under way than the workers could take.
func (c *coordinator) plan(ctx context.Context) error {
	if !c.state.canary {
		if err := c.ask(ctx, Shard{Kind: Canary, Source: canarySource, From: 1, Runs: canaryRuns}); err != nil {
			return err
		}
	}
	if err := c.polish(ctx, true); err != nil {
		return err
	}
	for c.under(Explore) < c.window {
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

// ask for a shard that was neither asked for nor done in this epoch.
func (c *coordinator) ask(ctx context.Context, s Shard) error {
	s.Epoch = c.state.epoch
	if _, waits := c.asked[s.key()]; waits || c.state.took[s.key()] {
		return nil
	}
	c.asked[s.key()] = s
	return c.put(ctx, s)
}

// under is how many shards of a kind are under way.
func (c *coordinator) under(k Kind) (n int) {
	for _, s := range c.asked {
		if s.Kind == k {
			n++
		}
	}
	return n
}

// next is the next seeds to run, of each source in turn.
func (c *coordinator) next() (Shard, bool) {
	left := uint64(1) << 62
	if c.Runs > 0 {
		done := uint64(0)
		for _, p := range c.planned {
			done += p.len()
		}
		if done >= c.Runs {
			return Shard{}, false
		}
		left = c.Runs - done
	}
	n := c.turn % len(c.Spec.Sources)
	c.turn++
	p := c.planned[n]
	if p == nil {
		p = &spans{}
		c.planned[n] = p
	}
	g := p.gap(c.Spec.First, min(c.size(), left))
	p.add(g)
	return Shard{Kind: Explore, Source: n, From: g.From, Runs: g.To - g.From}, true
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
	shardTime = 3 * time.Second
	shardMax  = 1000
)

// polish asks for findings of the failures that have none: small ones, from the
// shortest of a few instances, or, if there is no time left, as they are.
func (c *coordinator) polish(ctx context.Context, shrink bool) error {
	busy := c.under(Shrink) + c.under(Record)
	for _, sig := range c.state.open() {
		if c.phase == exploring && busy >= max(1, c.Workers/2) {
			return nil
		}
		cl := c.state.classes[sig]
		if c.phase == exploring && len(cl.Instances) < instancesMax && c.now()-cl.FirstAfter < patience {
			continue // a shorter one may come
		}
		i := cl.Instances[0]
		s := Shard{Kind: Shrink, Source: i.Source, From: i.Seed, Signature: sig}
		if !shrink || c.state.took[s.key()] {
			s.Kind = Record
		}
		was := len(c.asked)
		if err := c.ask(ctx, s); err != nil {
			return err
		}
		busy += len(c.asked) - was
	}
	return nil
}

// patience: so long the first instance of a failure waits for others.
const patience = 5 * time.Second

// now is how long the campaign has been at work.
func (c *coordinator) now() time.Duration { return c.state.elapsed(time.Now().Add(c.skew)) }
