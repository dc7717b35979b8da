package scenarios

import (
	"errors"
	"slices"
	"time"

	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/cron"
	"ipamsim/sim/cluster/hazard"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam"
)

// hazardsMax bounds how many hazards a run may have; each is a process of ours.
const hazardsMax = 100

// hazards checks the faults of machines and processes.
func (l *loader) hazards(c *check) {
	h, p := l.s.Doc.Spec.Hazards, at("spec", "hazards")
	until := l.s.Doc.Spec.Until
	set := len(h.Kinds) > 0 || h.From.Duration+h.Until.Duration+h.For.Duration > 0
	c.bad(h.Max < 0 || h.Max > hazardsMax, p.Then("max"), "want 0 to %d hazards in a run", hazardsMax)
	c.bad(h.Max == 0 && set, p.Then("max"), "missing: without it nothing happens at all")
	c.bad(h.Until.Duration > until.Duration, p.Then("until"), "%s is after spec.until, %s", brief(h.Until), brief(until))
	if h.Until.Duration > 0 {
		until = h.Until
	}
	c.bad(h.From.Duration > 0 && h.From.Duration >= until.Duration, p.Then("from"), "%s is not before %s, when they end", brief(h.From), brief(until))
	c.bad(h.For.Duration > untilMax, p.Then("for"), "%s is too long, want at most 24h", brief(h.For))
	for i, kind := range h.Kinds {
		at := p.Then("kinds").Then(i)
		if known := hazard.Kinds(); !slices.Contains(known, kind) {
			c.bad(true, at, "%s is no hazard, %s", strict.Quote(kind), strict.Want(kind, known))
			continue
		}
		c.must(hazard.Check(kind, l.s.hazardScope()), at)
		c.bad(slices.Index(h.Kinds, kind) < i, at, "%s is listed twice", kind)
	}
}

func (s *Scenario) hazardScope() action.Scope {
	var uses ipam.Uses
	if m := s.Manager(); m != nil {
		uses = m.Uses
	}
	scope := action.Scope{Crons: len(s.Doc.Spec.Reconcilers) > 0, Disk: uses.Disk, Cloud: uses.Cloud, Networks: len(s.Networks) > 0}
	for _, d := range s.Doc.Spec.Daemons {
		scope.Deployments = scope.Deployments || !perNode(s.Manager(), d)
	}
	for _, n := range s.Networks {
		scope.Routes = scope.Routes || s.Primary != "" && n.Key == s.Primary && n.Blocks != nil
	}
	return scope
}

// hazards translates them, of a cluster with these passes on a schedule.
func (s *Scenario) hazards(crons cron.Jobs) hazard.Hazards {
	h := s.Doc.Spec.Hazards
	out := hazard.Hazards{Max: h.Max, Kinds: h.Kinds, Crons: crons, From: h.From.Duration, Until: h.Until.Duration, For: h.For.Duration}
	if len(out.Kinds) == 0 {
		out.Kinds = slices.DeleteFunc(hazard.Usual(), func(kind string) bool { return hazard.Check(kind, s.hazardScope()) != "" })
	}
	if out.Until == 0 {
		out.Until = s.Doc.Spec.Until.Duration
	}
	if out.For == 0 {
		out.For = 2 * time.Minute
	}
	return out
}

// ErrOneClock is what Run returns for a scenario in which a node's clock may jump,
// on a runtime that has one clock for all nodes.
var ErrOneClock = errors.New("clockJump needs the hermetic runtime, this binary is built on the stock one: build it with make")

// clocks reports an error if this binary cannot run the scenario.
func (s *Scenario) clocks() error {
	if s.clocksJump() && !hermetic.Enabled {
		return ErrOneClock
	}
	return nil
}

// clocksJump reports whether a node's clock may jump in a run.
func (s *Scenario) clocksJump() bool {
	spec, jump := s.Doc.Spec, &action.ClockJump{}
	return spec.Hazards.Max > 0 && slices.Contains(spec.Hazards.Kinds, action.Of(jump).Name) ||
		slices.ContainsFunc(spec.Timeline, func(e Event) bool { return e.Kind() == action.Of(jump).Name })
}
