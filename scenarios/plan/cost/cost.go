// Package cost is what one trial of a cluster takes: events and time on one core by either
// engine, before it is run, and whether the real code is done with an event within a step.
package cost

import (
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
)

// Events estimates the number of pod starts and of reconciler passes in one trial of a cluster,
// as far as it can be predicted.
func Events(c *capacity.Cluster) float64 {
	starts, passes := expected(c)
	return 2*starts + passes
}

// expected is how many pods start in one trial, and how many passes there are.
func expected(c *capacity.Cluster) (starts, passes float64) {
	nodes := float64(len(c.Nodes)) + float64(c.Load.Grow)/2
	pods := float64(c.Load.Pods)
	if pods == 0 {
		pods = nodes * c.Load.PodsPerNode.Mean
	}
	times := func(every time.Duration) float64 {
		if every <= 0 {
			return 0
		}
		return float64(c.Horizon) / float64(every)
	}
	t := c.Trouble
	pods = max(pods+float64(c.Load.GrowPods)/2, 0) + c.Load.Arrivals.Standing()
	starts = c.Load.Arrivals.PerHour*c.Horizon.Hours() +
		pods*(1+restarts(c)+times(c.Load.Lived())+times(t.DrainEvery)+times(t.CrashEvery)+times(t.ReplaceEvery))
	return starts, times(c.Collect.Every)
}

// restarts is how often a migration restarts all pods.
func restarts(c *capacity.Cluster) (n float64) {
	for i := range c.Migration {
		if c.Migration[i].Kind == workload.RestartPods {
			n++
		}
	}
	return n
}

// What a trial costs on one core, roughly: measured on 2026-11-21, see the tests.
const (
	perStart     = 6 * time.Microsecond // with its stop
	perPass      = 3 * time.Microsecond
	perPassBlock = 20 * time.Nanosecond // of each pod that there is

	realStart = 12 * time.Millisecond
	realPass  = 10 * time.Millisecond
	realBegin = 150 * time.Millisecond
)

// Try is the time of a failed attempt of the real code.
const Try = 6 * time.Millisecond

// Real estimates the time of a trial with the real code on one core, without failed attempts; see
// Try.
func Real(c *capacity.Cluster) time.Duration {
	starts, passes := expected(c)
	return realBegin + time.Duration(starts*float64(realStart)+passes*float64(realPass))
}

// Reference is about how long the reference takes for one.
func Reference(c *capacity.Cluster) time.Duration {
	starts, passes := expected(c)
	pods := float64(len(c.Nodes)) * max(c.Load.PodsPerNode.Mean, float64(c.Load.Pods)/float64(len(c.Nodes)))
	return time.Duration(starts*float64(perStart) + passes*(float64(perPass)+pods*float64(perPassBlock)))
}
