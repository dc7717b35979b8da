package cluster

import (
	"context"
	"fmt"
	"time"

	"ipamsim/model/metric"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
)

// Looks is who wants to see what there is at some instants.
type Looks struct {
	At []time.Duration // in order
	// See is given the view of the i-th instant. Routes are as they will be once they
	// have had their time.
	See func(i int, v metric.View)
}

// startLooks looks at the cluster at the instants that somebody asked for. What is stored
// already is read before: a look may be the first step of a run, and the record is read
// after steps.
func (c *Cluster) startLooks() error {
	l := c.cfg.Looks
	if len(l.At) == 0 {
		return nil
	}
	rec, err := c.inst.Observe(context.Background())
	if err != nil {
		return fmt.Errorf("cluster: observe: %w", err)
	}
	c.judge.record = rec
	c.w.Spawn(sim.Process{ID: "looks", Run: func(ctx context.Context, g *sim.Gate) error {
		for i, at := range l.At {
			if d := at - c.w.Now(); d > 0 && !kubeapi.Sleep(ctx, d) {
				return ctx.Err()
			}
			err := g.Pass(ctx, sim.Op{Kind: sim.Local, Class: "metrics", Key: "LOOK", Request: &sim.Request{Verb: "LOOK"}}, func(context.Context) error {
				c.mu.Lock()
				defer c.mu.Unlock()
				v := c.view()
				if c.routing != nil {
					v.Losses, _ = c.settled()
				}
				l.See(i, v)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}})
	return nil
}
