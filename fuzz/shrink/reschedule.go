package shrink

import (
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/shrink/internal/tree"
	"ipamsim/sim/strategy"
)

// reschedule looks for another schedule, with few switches, for a failure that needs many: the default
// order with a few randomly held messages, on the scenario and on parts of it in turn. If addresses
// depend on the order of all processes, nothing can be removed from the original schedule, nor from
// its scenario. But mostly the failure only needs one process that is interrupted between its read
// and its write, which a small scenario shows as well.
//
// Source: Qadeer and Rehof, Context-Bounded Model Checking of Concurrent Software, TACAS 2005:
// few switches are enough for most failures.
func (k *shrinker) reschedule() {
	own := k.orderless()
	for n := 0; n < reschedulesMax && orders(k.rules) > finding.SwitchesMax && !k.spent(); n++ {
		docs := k.docs
		if n%3 > 0 {
			docs = k.part(k.drawn)
		}
		k.another(docs, own)
		k.drawn++
	}
}

// reschedulesMax is about as much work as hold and plainly together.
const reschedulesMax = 60

// another tries one schedule, and keeps it if it has fewer switches.
func (k *shrinker) another(docs []tree.Tree, own []strategy.Exception) {
	text, err := tree.Write(docs)
	if err != nil || !k.hasSettings(docs) {
		return
	}
	world, err := k.managers.Parse("candidate.yaml", text)
	if err != nil {
		return
	}
	rec := strategy.NewRecorder(strategy.NewHeld(uint64(k.drawn), own))
	if rep, err := k.run(world, rec); err != nil || k.lock.In(rep) == nil {
		return
	}
	if rules := rec.Exceptions(); orders(rules) < orders(k.rules) {
		k.sorted(docs, rules)
	}
}
