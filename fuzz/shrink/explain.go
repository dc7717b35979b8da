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

// explain returns the cause of the shrunk failure. For each object that changed between a process's
// read and its write, explain repeats the run with the read delayed until after the change: if
// nothing breaks, the order of the two is part of the cause.
func (k *shrinker) explain(rep *reports.Report, v *model.Violation, rules []strategy.Exception) *cause.Cause {
	c := cause.Of(rep, v)
	if orders(rules) > finding.SwitchesMax {
		return c // the schedule is not small enough: the failure may depend on any order
	}
	steps := k.steps
	defer func() { k.steps = steps }()
	k.steps += alsoSteps // the run does not end at the violation
	for _, race := range cause.Stale(rep, v, c) {
		again, err := k.run(k.world, strategy.NewSparse(later(rules, race)))
		if err == nil && race.Shows(again) && !k.breaks(again, v) {
			c.Decided(rep, race)
		}
	}
	return c
}

// orders returns the number of exceptions about order.
func orders(rules []strategy.Exception) (n int) {
	for _, e := range rules {
		if isAboutOrder(e) {
			n++
		}
	}
	return n
}

// breaks reports whether a run breaks the same invariant as v, whatever the cause.
func (k *shrinker) breaks(rep *reports.Report, v *model.Violation) bool {
	return slices.ContainsFunc(rep.Violations, func(o model.Violation) bool { return o.Invariant == v.Invariant && o.Code == v.Code }) || k.lock.In(rep) != nil
}

// later returns the exceptions with the read of a race held until its change has been made.
func later(rules []strategy.Exception, race cause.Race) []strategy.Exception {
	op := race.Read.Choice.Op
	m := strategy.MessageOf(op)
	out := slices.DeleteFunc(slices.Clone(rules), func(e strategy.Exception) bool { return e.Message == m && e.Outcome == sim.Delay })
	out = append(out, strategy.Exception{Message: m, Outcome: sim.Delay, Level: sim.Rung(race.Change.At - op.Sent)})
	slices.SortStableFunc(out, byActor)
	return out
}
