package shrink

import (
	"slices"

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/shrink/internal/turns"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// merge joins the turns of processes in a schedule that is still crowded: what a process
// does next follows at once what it did before (up), or that waits for it (down), and all
// the rest keeps its order. Dropping an exception leaves the turn to whoever is next in
// the default order instead, so that the exceptions behind it mean something else.
//
// Source: Jalbert and Sen, A Trace Simplification Technique for Effective Debugging of
// Concurrent Programs, FSE 2010.
func (k *shrinker) merge() {
	own := slices.DeleteFunc(slices.Clone(k.rules), isOrder)
	for _, up := range []bool{true, false} {
		t, left := turns.Of(k.rep.Trace.Steps), mergesMax
		for n := len(t.Joints); n >= 1 && left > 0; n /= 2 {
			for i := 0; i < len(t.Joints) && left > 0; left-- {
				if orders(k.rules) <= finding.SwitchesMax || k.spent() {
					return
				}
				if !k.joined(t.Joined(t.Joints[i:min(i+n, len(t.Joints))], up), own) {
					i += n
					continue
				}
				t = turns.Of(k.rep.Trace.Steps)
			}
		}
	}
}

// mergesMax runs in each direction are about as much work as reschedule.
const mergesMax = 30

// joined tries the world with its messages in another order, and takes what the run comes
// to if that needs fewer switches.
func (k *shrinker) joined(steps []*sim.Step, own []strategy.Exception) bool {
	rules, rep, ok := k.inOrder(strategy.Edges(steps, strategy.Any), own)
	if !ok || orders(rules) >= orders(k.rules) {
		return false
	}
	k.rules, k.rep, k.steps = rules, rep, min(k.steps, len(rep.Trace.Steps))
	return true
}
