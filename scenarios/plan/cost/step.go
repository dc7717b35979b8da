package cost

import (
	"cmp"
	"fmt"
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
)

// Fits reports whether there is room in a trial for all that happens, one event in a step:
// five steps for one event.
func Fits(c *capacity.Cluster, step time.Duration) bool {
	starts, _ := expected(c)
	slots := float64(c.Horizon) / float64(step)
	return 2*starts <= slots/5
}

// Latency of a message is the longest with which a node that is back has time for all
// its pods in one step, a DEL and an ADD of some 25 messages each.
func Latency(c *capacity.Cluster) time.Duration {
	pods := cmp.Or(c.Load.MaxPods, workload.MaxPodsDefault)
	nodes := max(len(c.Nodes), 1)
	most := max(float64(c.Load.Pods), float64(nodes+c.Load.Grow)*(c.Load.PodsPerNode.Mean+c.Load.PodsPerNode.Spread))
	if most == 0 {
		most = float64(len(c.Pods))
	}
	most += max(float64(c.Load.GrowPods), 0) + 3*c.Load.Arrivals.Standing()
	pods = max(min(pods, int(most)), 1)
	return c.Apart / 8 / time.Duration(50*pods)
}

// Overlap finds the first thing that the address manager did while it was still
// doing another, or that lasted into the next step.
func Overlap(h *model.History, apart time.Duration) string {
	busy, since, step := 0, "", time.Duration(0)
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case model.AddBegin, model.DelBegin, model.Reconcile:
			if busy > 0 {
				return fmt.Sprintf("%s began at %s while %s was not done", e.Actor, e.At, since)
			}
			busy, since, step = busy+1, e.Actor, e.At/apart
		case model.AddEnd, model.DelEnd, model.Reconciled:
			busy--
			if e.At/apart != step {
				return fmt.Sprintf("%s was not done at %s, when the next step began", e.Actor, e.At)
			}
		}
	}
	return ""
}
