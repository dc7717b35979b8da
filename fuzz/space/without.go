package space

import (
	"slices"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/hazard"
)

// These percentages of generated worlds leave out classes of actions; more have none by chance. A
// manager has the fewest excuses for what fails there.
const (
	Unattended = 25 // without operator actions
	Unhurt     = 25 // without faults and crashes
)

// spared draws the classes of actions that a world leaves out. It uses a stream of its own, so that
// the rest of a world does not depend on it.
func spared(c *Choices) (out []model.Class) {
	own := c.fork(ofClasses)
	if own.Chance(Unattended, 100) {
		out = append(out, model.OperatorAction)
	}
	if own.Chance(Unhurt, 100) {
		out = append(out, model.InjectedFault, model.Crash)
	}
	return out
}

// leaveOut removes classes of actions from a world; the rest does not change.
func leaveOut(s *scenarios.Spec, classes []model.Class) {
	out := func(c model.Class) bool { return slices.Contains(classes, c) }
	never := map[string]bool{} // machines whose Node is no longer applied
	s.Timeline = slices.DeleteFunc(s.Timeline, func(e scenarios.Event) bool {
		gone := out(classOf(e))
		if kind, name := applied(e); gone && kind == "Node" {
			never[name] = true
		}
		return gone
	})
	s.Timeline = slices.DeleteFunc(s.Timeline, func(e scenarios.Event) bool {
		a, ok := e.Action.(*action.PowerOn)
		return ok && never[a.Node]
	})
	if out(model.ForcedDeletion) {
		persuade(s)
	}
	if f := &s.Faults; f.Max > 0 && (out(model.InjectedFault) || out(model.Crash)) {
		for o := sim.FailBefore; o <= sim.Crash; o++ {
			if o == sim.Crash && out(model.Crash) || o != sim.Crash && out(model.InjectedFault) {
				f.Allowed = slices.DeleteFunc(f.Allowed, func(name string) bool { return name == o.String() })
				delete(f.Rates, o.String())
			}
		}
		if len(f.Allowed) == 0 {
			*f = scenarios.Faults{}
		}
	}
	if h := &s.Hazards; h.Max > 0 && (out(model.OperatorAction) || out(model.InjectedFault) || out(model.Crash)) {
		if len(h.Kinds) == 0 { // all kinds, which the loader would set
			h.Kinds = slices.Clone(machineHazards)
		}
		h.Kinds = slices.DeleteFunc(h.Kinds, func(kind string) bool { return out(hazard.ClassOf(kind)) })
		if len(h.Kinds) == 0 {
			*h = scenarios.Hazards{}
		}
	}
}

// persuade replaces forced deletions by ordinary ones.
func persuade(s *scenarios.Spec) {
	for _, e := range s.Timeline {
		switch a := e.Action.(type) {
		case *action.Delete:
			a.Force = false
		case *action.Drain:
			a.Force = false
		}
	}
	for i := range s.Churn {
		s.Churn[i].Force = 0
	}
}

// Tally counts worlds by the classes that they leave out.
type Tally struct {
	Worlds  uint64
	Without map[model.Class]uint64 `json:",omitempty"`
	Quiet   uint64                 `json:",omitempty"` // worlds that leave out all classes
}

// Add adds a world in which these classes of actions can occur.
func (t *Tally) Add(classes []model.Class) {
	one := Tally{Worlds: 1, Without: map[model.Class]uint64{}}
	for _, d := range Classes() {
		if !slices.Contains(classes, d) {
			one.Without[d] = 1
		}
	}
	if len(classes) == 0 {
		one.Quiet = 1
	}
	t.Merge(one)
}

// Merge adds the worlds of another tally.
func (t *Tally) Merge(o Tally) {
	if t.Without == nil {
		t.Without = map[model.Class]uint64{}
	}
	t.Worlds += o.Worlds
	t.Quiet += o.Quiet
	for _, d := range Classes() {
		t.Without[d] += o.Without[d]
	}
}
