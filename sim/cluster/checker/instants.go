package checker

import (
	"context"
	"fmt"
	"time"

	"ipamsim/model/metric"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
)

// Samples requests views of the cluster at some instants.
type Samples struct {
	At []time.Duration // in order
	// See gets the view of the i-th instant. Its routes are those after convergence.
	See func(i int, v metric.View)
}

// StartSamples takes samples of the cluster at the requested instants. It reads the stored state
// first, because a sample may be the first step of a run, and the record is otherwise read
// only after steps.
func (c *Checker) StartSamples() error {
	l := c.cfg.Samples
	if len(l.At) == 0 {
		return nil
	}
	rec, err := c.cfg.Observe(context.Background())
	if err != nil {
		return fmt.Errorf("cluster: observe: %w", err)
	}
	c.recorded = rec
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
