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
)

// Deed is a kind of what may happen to a cluster from outside, besides what every
// cluster lives with: pods and Services that come and go, Services that become another
// type, nodes that are drained, passes that are started.
type Deed string

// The kinds of deeds.
const (
	Operator Deed = "operator" // people edit objects, the manager's record or its settings
	Force    Deed = "force"    // pods are deleted by force
	Fault    Deed = "fault"    // a message is lost, late or wrong; a node is cut off, a process stands still
	Crash    Deed = "crash"    // a process is killed, a machine loses its power or is replaced
)

// Deeds lists them, in the order in which everybody does.
func Deeds() []Deed { return []Deed{Operator, Force, Fault, Crash} }

// ParseDeeds reads names of deeds in any order and returns them in that of Deeds, each
// once.
func ParseDeeds(names []string) (out []Deed, err error) {
	all := Deeds()
	for _, n := range names {
		if !slices.Contains(all, Deed(n)) {
			return nil, fmt.Errorf("unknown %q, want some of %s", n, List(all))
		}
	}
	for _, d := range all {
		if slices.Contains(names, string(d)) {
			out = append(out, d)
		}
	}
	return out, nil
}

// List is the names of deeds with commas between them.
func List(deeds []Deed) string {
	var names []string
	for _, d := range deeds {
		names = append(names, string(d))
	}
	return strings.Join(names, ", ")
}

// ofAction is the deed that an action of a timeline or a hazard of that name is; "" is
// none. What is applied and deleted decides about "apply" and "delete".
var ofAction = map[string]Deed{
	"apply": Operator, "command": Operator, "delete": Operator, "patch": Operator, "second": Operator,
	"clockJump": Fault, "cloud": Fault, "cutSession": Fault, "disk": Fault, "noSpace": Fault, "partition": Fault, "pause": Fault, "pauseNode": Fault, "plugin": Fault, "stopBIRD": Fault,
	"crash": Crash, "kill": Crash, "reboot": Crash, "replace": Crash, "restart": Crash, "restartRuntime": Crash, "terminate": Crash,
	"cordon": "", "drain": "", "heal": "", "powerOn": "", "reconcile": "", "scale": "",
}

// deedOf is the deed that an entry of a timeline is, apart from force.
func deedOf(e scenarios.Event) Deed {
	switch {
	case e.Apply != nil && model.Everyday(applies(e).Kind), e.Delete != nil && model.EverydayResource(e.Delete.Resource),
		e.Patch != nil && e.Patch.Retypes(), e.Command != nil && comesOrGoes(e.Command):
		return ""
	}
	return ofAction[e.Kind()]
}

// comesOrGoes reports whether a line makes or deletes a Service.
func comesOrGoes(c *action.Command) bool {
	words := slices.DeleteFunc(strings.Fields(c.Run), func(w string) bool { return strings.HasPrefix(w, "-") })
	return len(words) > 2 && words[0] == "kubectl" && (words[1] == "create" || words[1] == "delete") && words[2] == "service"
}

// applies is the object of kubectl apply, so far as it says what it is.
func applies(e scenarios.Event) (o struct {
	Kind     string
	Metadata struct{ Name string }
}) {
	if e.Apply != nil {
		_ = json.Unmarshal(e.Apply.Object, &o) // loading says what is wrong with it
	}
	return o
}

// DeedsOf lists the deeds that can happen in a World, in the order of Deeds.
func DeedsOf(s *scenarios.Spec) (out []Deed) {
	has := map[Deed]bool{}
	for _, e := range s.Timeline {
		has[deedOf(e)] = true
		has[Force] = has[Force] || e.Delete != nil && e.Delete.Force || e.Drain != nil && e.Drain.Force
	}
	for _, c := range s.Churn {
		has[Force] = has[Force] || c.Force > 0
	}
	if f := s.Faults; f.Max > 0 {
		crash := len(f.Allowed) == 0 || slices.Contains(f.Allowed, sim.Crash.String())
		has[Crash] = has[Crash] || crash
		has[Fault] = has[Fault] || len(f.Allowed) == 0 || len(f.Allowed) > 1 || !crash
	}
	if h := s.Hazards; h.Max > 0 {
		if len(h.Kinds) == 0 {
			h.Kinds = machineHazards
		}
		for _, kind := range h.Kinds {
			has[ofAction[kind]] = true
		}
	}
	return slices.DeleteFunc(Deeds(), func(d Deed) bool { return !has[d] })
}
