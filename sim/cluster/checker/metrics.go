package checker

import (
	"context"

	"ipamsim/model/metric"
	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
)

// StartMetrics measures the cluster at the scenario's interval, as a monitoring
// system that scrapes it would.
func (c *Checker) StartMetrics() {
	if c.cfg.Metrics <= 0 {
		return
	}
	c.series = &metric.Series{}
	c.w.Spawn(sim.Process{ID: "metrics", Run: func(ctx context.Context, g *sim.Gate) error {
		for {
			err := g.Pass(ctx, sim.Op{Kind: sim.Local, Class: "metrics", Key: "SCRAPE metrics", Request: &sim.Request{Verb: "SCRAPE", Resource: "metrics"}}, func(context.Context) error {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.measure()
				return nil
			})
			if err != nil || !kubeapi.Sleep(ctx, c.cfg.Metrics) {
				return err
			}
		}
	}})
}

// measure adds a sample. Called with mu held.
func (c *Checker) measure() {
	v := c.view()
	if c.routing != nil {
		v.Losses = c.routing.net.Losses()
	}
	c.series.Add(c.w.Now(), metric.Sample(v))
}

// view is what can be measured, but the losses. Called with mu held.
func (c *Checker) view() metric.View {
	return metric.View{Truth: c.snapshotLocked(), Record: c.recorded, Networks: c.networksLocked(), Routes: c.routing != nil}
}

// Series are the measurements of the run; nil if none were asked for.
func (c *Checker) Series() *metric.Series { return c.series }
