package cause

import (
	"slices"

	"ipamsim/model"
)

// Trigger is the most severe external event before a failure, in a run that was shrunk:
// every event that is left is needed.
type Trigger string

// The triggers.
const (
	NoFault        Trigger = "no fault"
	Faulted        Trigger = "fault"
	Killed         Trigger = "crash"
	ForcedDeletion Trigger = "forced deletion" // kubectl delete --force
	OperatorAction Trigger = "operator action"
)

// Triggers are all triggers, in the order of model.Classes: an address manager has no excuse
// for a failure with the first one, and the best excuse for a failure with the last.
var Triggers = []Trigger{NoFault, Faulted, Killed, ForcedDeletion, OperatorAction}

func triggerOf(h *model.History, to int) Trigger {
	worst, classes := 0, model.Classes()
	for i := range h.Events[:to] {
		if e := &h.Events[i]; e.Kind == model.Operator || e.Kind == model.FaultEvent {
			worst = max(worst, slices.Index(classes, e.Action.Class))
		}
	}
	return Triggers[worst]
}

// faulted reports whether a fault was injected or a process killed.
func faulted(h *model.History, to int) bool {
	return slices.ContainsFunc(h.Events[:to], func(e model.Event) bool {
		hurt := e.Action.Class == model.InjectedFault || e.Action.Class == model.Crash
		return e.Kind == model.FaultEvent || e.Kind == model.Operator && hurt
	})
}
