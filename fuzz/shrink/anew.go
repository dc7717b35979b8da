package shrink

import (
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/shrink/internal/tree"
	"ipamsim/sim/strategy"
)

// anew looks for another schedule, with few switches, of a failure that needs many: the
// default order in which a few messages are held, which ones chance decides; of the world
// and of parts of it in turn. Where addresses depend on everybody's turn, nothing can be left
// out of the schedule that was found first, nor of its world; what makes the failure is mostly
// one process that is interrupted between its read and its write, which shows in a small
// world as well.
//
// Source: Qadeer and Rehof, Context-Bounded Model Checking of Concurrent Software, TACAS 2005:
// few switches show most failures.
func (k *shrinker) anew() {
	own := k.orderless()
	for n := 0; n < anewMax && orders(k.rules) > finding.SwitchesMax && !k.spent(); n++ {
		docs := k.docs
		if n%3 > 0 {
			docs = k.part(k.drawn)
		}
		k.another(docs, own)
		k.drawn++
	}
}

// anewMax is about as much work as hold and plainly together.
const anewMax = 60

// another tries one schedule, and takes it if it has fewer switches.
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
