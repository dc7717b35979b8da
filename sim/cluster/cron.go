package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
)

// Cron starts passes of a reconciler on a schedule.
type Cron struct {
	Reconciler string
	Schedule   cron.Schedule
	Nodes      []string // one pass on each, at the same instant; none: one pass in the cluster
	Count      int      // how many at once, for each node; default 1
	Overlap    Overlap
}

// Overlap says what to do when a pass is due and the one before still runs.
type Overlap string

// CronJob's concurrencyPolicy, by its own names.
const (
	Allow   Overlap = "Allow"
	Forbid  Overlap = "Forbid"
	Replace Overlap = "Replace"
)

// ParseSchedule reads a cron expression of five fields, or @every 30s.
func ParseSchedule(s string) (cron.Schedule, error) { return cron.ParseStandard(s) }

func (c *Cluster) startCron(k Cron) {
	nodes := k.Nodes
	if len(nodes) == 0 {
		nodes = []string{""}
	}
	for _, n := range nodes {
		for i := range max(k.Count, 1) {
			id := c.unique(fmt.Sprintf("cron/%s/%s%d", k.Reconciler, n, i))
			c.w.Spawn(sim.Process{ID: sim.ActorID(id), Run: func(ctx context.Context, _ *sim.Gate) error {
				return c.cron(ctx, k, n)
			}})
		}
	}
}

func (c *Cluster) cron(ctx context.Context, k Cron, node string) error {
	r, err := c.reconciler(k.Reconciler)
	if err != nil {
		return err
	}
	var last *sim.Actor
	for {
		now := time.Now().UTC() // virtual
		if !kubeapi.Sleep(ctx, k.Schedule.Next(now).Sub(now)) {
			return ctx.Err()
		}
		if node != "" && !c.nodeUp(node) {
			continue
		}
		if last != nil && running(last) {
			switch k.Overlap {
			case Forbid:
				continue
			case Replace:
				c.w.Kill(last.ID)
			}
		}
		last = c.reconcile(r, node)
	}
}

func (c *Cluster) nodeUp(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[name]
	return n != nil && n.state.Up
}

func running(a *sim.Actor) bool {
	select {
	case <-a.Done():
		return false
	default:
		return true
	}
}
