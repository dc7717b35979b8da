package shrink

import (
	"slices"

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/shrink/internal/turns"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// merge joins turns of a process in a schedule that still has many switches: the process's next turn
// moves directly behind its previous one (up), or the previous one moves directly before it (down);
// the order of all other messages stays. To remove an exception instead would let the next process of
// the default order run, which changes the meaning of all later exceptions.
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

// joined runs the scenario with its messages in another order, and keeps the result if it needs fewer
// switches.
func (k *shrinker) joined(steps []*sim.Step, own []strategy.Exception) bool {
	rules, rep, ok := k.inOrder(strategy.Edges(steps, strategy.Any), own)
	if !ok || orders(rules) >= orders(k.rules) {
		return false
	}
	k.rules, k.rep, k.steps = rules, rep, min(k.steps, len(rep.Trace.Steps))
	return true
}
