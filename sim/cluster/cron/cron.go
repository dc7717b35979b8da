// Package cron starts passes of reconcilers on a schedule.
package cron

import (
	"context"
	"fmt"
	"time"

	robfig "github.com/robfig/cron/v3"

	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
)

// Job starts passes of a reconciler.
type Job struct {
	Reconciler string
	Schedule   robfig.Schedule
	Nodes      []string // one pass on each, at the same instant; none: one pass in the cluster
	Count      int      // concurrent passes for each node; default 1
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

// Parse reads a cron expression of five fields, or @every 30s.
func Parse(s string) (robfig.Schedule, error) { return robfig.ParseStandard(s) }

// Jobs are the cron jobs of a cluster. They implement cluster.Background.
type Jobs []Job

// Start starts a process for each pass that may run concurrently.
func (all Jobs) Start(c *cluster.Cluster) {
	for _, j := range all {
		nodes := j.Nodes
		if len(nodes) == 0 {
			nodes = []string{""}
		}
		for _, n := range nodes {
			for i := range max(j.Count, 1) {
				id := c.Name(fmt.Sprintf("cron/%s/%s%d", j.Reconciler, n, i))
				c.World.Spawn(sim.Process{ID: sim.ActorID(id), Run: func(ctx context.Context, _ *sim.Gate) error {
					return j.run(ctx, c, n)
				}})
			}
		}
	}
}

func (j *Job) run(ctx context.Context, c *cluster.Cluster, node string) error {
	var last *sim.Actor
	for {
		now := time.Now().UTC() // virtual
		if !kubeapi.Sleep(ctx, j.Schedule.Next(now).Sub(now)) {
			return ctx.Err()
		}
		if node != "" && !c.Up(node) {
			continue
		}
		if last != nil && running(last) {
			switch j.Overlap {
			case Forbid:
				continue
			case Replace:
				c.World.Kill(last.ID)
			}
		}
		var err error
		if last, err = c.Reconcile(j.Reconciler, node); err != nil {
			return err
		}
	}
}

func running(a *sim.Actor) bool {
	select {
	case <-a.Done():
		return false
	default:
		return true
	}
}
