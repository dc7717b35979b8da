package shrink

import (
	"slices"

	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/finding"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// explain says why the small run failed. Which of what changed under a process' eyes
// mattered is tried: the read waits until after the change, and if nothing breaks then,
// the order of the two decides.
func (k *shrinker) explain(rep *reports.Report, v *model.Violation, rules []strategy.Exception) *cause.Cause {
	c := cause.Of(rep, v)
	if orders(rules) > finding.SwitchesMax {
		return c // a schedule that did not get small: anything may depend on it
	}
	steps := k.steps
	defer func() { k.steps = steps }()
	k.steps += alsoSteps // it does not end where v would be
	for _, race := range cause.Stale(rep, v, c) {
		again, err := k.run(k.world, strategy.NewSparse(later(rules, race)))
		if err == nil && race.Shows(again) && !k.breaks(again, v) {
			c.Decided(rep, race)
		}
	}
	return c
}

// orders is how many exceptions say who must wait.
func orders(rules []strategy.Exception) (n int) {
	for _, e := range rules {
		if isAboutOrder(e) {
			n++
		}
	}
	return n
}

// breaks reports whether the run breaks an invariant as v does, for whatever reason.
func (k *shrinker) breaks(rep *reports.Report, v *model.Violation) bool {
	return slices.ContainsFunc(rep.Violations, func(o model.Violation) bool { return o.Invariant == v.Invariant && o.Code == v.Code }) || k.lock.In(rep) != nil
}

// later are the exceptions with the read of a race held until its change has been made.
func later(rules []strategy.Exception, race cause.Race) []strategy.Exception {
	op := race.Read.Choice.Op
	m := strategy.MessageOf(op)
	out := slices.DeleteFunc(slices.Clone(rules), func(e strategy.Exception) bool { return e.Message == m && e.Outcome == sim.Delay })
	out = append(out, strategy.Exception{Message: m, Outcome: sim.Delay, Level: sim.Rung(race.Change.At - op.Sent)})
	slices.SortStableFunc(out, byActor)
	return out
}
