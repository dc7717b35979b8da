package invariant

import (
	"slices"
	"strings"
	"time"

	"ipamsim/model"
)

// disturbed is the last time at which something kept the processes that serve the whole cluster
// from their work: a fault of one of their messages, or an action that stops processes or the
// servers that they need.
//
// Normal events are no excuse: writes of users, machines that are added and removed, faults of CNI
// calls, and a process that ends by itself.
func disturbed(v *View) time.Duration {
	if v.History == nil {
		return 0
	}
	for _, e := range slices.Backward(v.History.Events) {
		if disturbs(&e) {
			return e.At
		}
	}
	return 0
}

func disturbs(e *model.Event) bool {
	switch e.Kind {
	case model.FaultEvent:
		return !strings.HasPrefix(e.Actor, "cni-") && e.Action.Stops != model.StopsMachine
	case model.Operator:
		return e.Action.Stops == model.StopsProcesses || e.Action.Stops == model.StopsDatastore
	}
	return false
}
