package space

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/hazard"
)

// Classes lists the classes of actions that a World may go without, in the order in which
// they are printed. Ordinary actions happen in every World.
func Classes() []model.Class {
	return []model.Class{model.OperatorAction, model.ForcedDeletion, model.InjectedFault, model.Crash}
}

// ParseClasses reads names of classes in any order and returns them in that of Classes,
// each once.
func ParseClasses(names []string) (out []model.Class, err error) {
	all := Classes()
	for _, n := range names {
		if !slices.Contains(all, model.Class(n)) {
			return nil, fmt.Errorf("unknown %q, want some of %s", n, List(all))
		}
	}
	for _, c := range all {
		if slices.Contains(names, string(c)) {
			out = append(out, c)
		}
	}
	return out, nil
}

// List is the names of classes with commas between them.
func List(classes []model.Class) string {
	var names []string
	for _, c := range classes {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// classOf is the class of an entry of a timeline apart from force: a Delete of something
// that is not ordinary stays an operator's action when it is not forced.
func classOf(e scenarios.Event) model.Class {
	switch a := e.Action.(type) {
	case *action.Delete:
		gentle := *a
		gentle.Force = false
		return action.Ref(&gentle).Class
	case *action.Drain:
		return model.Ordinary
	}
	return action.Ref(e.Action).Class
}

// forced reports whether an entry deletes pods by force.
func forced(e scenarios.Event) bool { return action.Ref(e.Action).Class == model.ForcedDeletion }

// applied is the kind and the name of the object that an entry applies.
func applied(e scenarios.Event) (kind, name string) {
	a, ok := e.Action.(*action.Apply)
	if !ok {
		return "", ""
	}
	var o struct {
		Kind     string
		Metadata struct{ Name string }
	}
	_ = json.Unmarshal(a.Object, &o) // loading reports what is wrong with it
	return o.Kind, o.Metadata.Name
}

// ClassesOf lists the classes of actions that can happen in a World, in the order of
// Classes.
func ClassesOf(s *scenarios.Spec) (out []model.Class) {
	has := map[model.Class]bool{}
	for _, e := range s.Timeline {
		has[classOf(e)] = true
		has[model.ForcedDeletion] = has[model.ForcedDeletion] || forced(e)
	}
	for _, c := range s.Churn {
		has[model.ForcedDeletion] = has[model.ForcedDeletion] || c.Force > 0
	}
	if f := s.Faults; f.Max > 0 {
		crash := len(f.Allowed) == 0 || slices.Contains(f.Allowed, sim.Crash.String())
		has[model.Crash] = has[model.Crash] || crash
		has[model.InjectedFault] = has[model.InjectedFault] || len(f.Allowed) == 0 || len(f.Allowed) > 1 || !crash
	}
	if h := s.Hazards; h.Max > 0 {
		if len(h.Kinds) == 0 {
			h.Kinds = machineHazards
		}
		for _, kind := range h.Kinds {
			has[hazard.ClassOf(kind)] = true
		}
	}
	return slices.DeleteFunc(Classes(), func(c model.Class) bool { return !has[c] })
}
