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

// Classes lists the classes of actions that a World may leave out, in the order in which they are
// printed. Ordinary actions occur in every World.
func Classes() []model.Class {
	return []model.Class{model.OperatorAction, model.ForcedDeletion, model.InjectedFault, model.Crash}
}

// ParseClasses parses names of classes in any order and returns them in that of Classes, without
// repetition.
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

// List returns the names of classes, separated by commas.
func List(classes []model.Class) string {
	var names []string
	for _, c := range classes {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// classOf returns the class of a timeline entry as if it did not use force: a forced Delete of an
// object that is not ordinary is an operator's action in any case.
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

// applied returns the kind and the name of the object that an entry applies.
func applied(e scenarios.Event) (kind, name string) {
	a, ok := e.Action.(*action.Apply)
	if !ok {
		return "", ""
	}
	var o struct {
		Kind     string
		Metadata struct{ Name string }
	}
	_ = json.Unmarshal(a.Object, &o) // the loader reports errors
	return o.Kind, o.Metadata.Name
}

// ClassesOf lists the classes of actions that can occur in a World, in the order of Classes.
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
