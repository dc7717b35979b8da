package plan

import (
	"cmp"
	"slices"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios/plan/cost"
)

// The real code needs time for what it does, and the reference needs none. So that
// both live through one history, what happens is put into steps of equal length,
// the plan's Apart, and each step has its parts:
//
//	at 0     pods that were refused an address try again
//	at 1/4   one thing happens: a pod comes or goes, a node
//	at 1/2   a pass of the reconciler
//
// Each is done before the next begins: in turn, with latencies that are short for
// it. A run in which something took longer is not compared; see cost.Overlap. In the
// reference the first two happen at one instant, in this order.
const (
	WorkAt = 4  // a fraction of the step
	passAt = 16 // behind the half, so that what the taint manager does then is done
	lookAt = 8
)

// steps are the lengths that a step may have: all delays of the cluster's own
// controllers (40 s, 300 s, 340 s) are multiples of them.
var steps = []time.Duration{20 * time.Second, 10 * time.Second, 4 * time.Second, 2 * time.Second, time.Second}

// apart is the plan's step, the same for all cells, so that they are compared on
// one history. It is the longest in which there is room for all that happens: five
// steps for one event. 0: only the reference runs, or there is no room.
func (p *Plan) apart() time.Duration {
	if p.Doc.Spec.Engine == Reference {
		return 0
	}
	real := &p.manager.Real
	for _, step := range steps {
		if step >= cmp.Or(real.Least, time.Second) && step <= cmp.Or(real.Most, 10*time.Second) && p.roomy(step) {
			return step
		}
	}
	return 0
}

func (p *Plan) roomy(step time.Duration) bool {
	return !slices.ContainsFunc(p.Cells, func(c Cell) bool { return !cost.Fits(&c.Cluster, step) })
}

// latency of a message is short enough for what happens in one step.
func (p *Plan) latency(c *capacity.Cluster) time.Duration {
	longest := cost.Latency(c)
	if of := p.manager.Real.Latency; of != nil {
		longest = of(c, longest)
	}
	return min(max(longest, 10*time.Microsecond), 2*time.Millisecond)
}

// instantOf returns the time at which the real code performs an event of the trace.
func instantOf(e workload.Event, apart time.Duration) time.Duration {
	switch e.Kind {
	case workload.Pass:
		return e.At + apart/passAt
	case workload.TakeSample:
		in := e.At % apart
		return e.At - in + min(max(in, apart/lookAt), apart-apart/lookAt)
	}
	return e.At + apart/WorkAt
}
