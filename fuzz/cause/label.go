package cause

import (
	"slices"
	"strings"

	"ipamsim/model"
)

// Label is whose deed a failure is: the gravest thing that happened from outside in a
// run that was made small, where nothing happens that it does not need.
type Label string

// The labels, those first that a manager has the fewest excuses for.
const (
	NoFault         Label = "no fault"
	Faulted         Label = "fault"           // a message lost, late or wrong; a partition, a pause, a clock, a disk, a cloud
	Killed          Label = "crash"           // of a process or a machine
	ForcedDeletion  Label = "forced deletion" // kubectl delete --force
	OperatorsAction Label = "operator's deed" // whatever else people do to objects, machines and the manager's record
)

// Labels are all of them, in order.
var Labels = []Label{NoFault, Faulted, Killed, ForcedDeletion, OperatorsAction}

func labelOf(h *model.History, to int) Label {
	worst := 0
	for i := range h.Events[:to] {
		if e := &h.Events[i]; e.Kind == model.Operator || e.Kind == model.FaultEvent {
			worst = max(worst, slices.Index(Labels, labelOfDeed(e.Deed)))
		}
	}
	return Labels[worst]
}

// faulted reports whether something failed or was killed.
func faulted(h *model.History, to int) bool {
	return slices.ContainsFunc(h.Events[:to], func(e model.Event) bool {
		label := labelOfDeed(e.Deed)
		return e.Kind == model.FaultEvent || e.Kind == model.Operator && (label == Faulted || label == Killed)
	})
}

// labelOfDeed takes what a cluster lives with for no fault: pods and Services that come and
// go, Services that become another type, nodes that are drained, jobs that are started. Any
// other edit of a Service may be anything.
func labelOfDeed(deed string) Label {
	verb, object, _ := strings.Cut(deed, " ")
	switch {
	case slices.Contains([]string{"", "scale", "drain", "cordon", "reconcile", "powerOn", "heal", "retype"}, verb):
		return NoFault
	case verb == "apply" && model.Everyday(object), verb == "delete" && model.EverydayResource(object):
		return NoFault
	case verb == "kubectl" && !strings.HasPrefix(object, "patch"): // makes or deletes a Service: nothing else is typed so
		return NoFault
	case strings.HasPrefix(deed, "delete --force"):
		return ForcedDeletion
	case slices.Contains([]string{"crash", "kill", "reboot", "replaceNode", "restartRuntime", "terminate"}, verb):
		return Killed
	case slices.Contains([]string{"fail-before", "lose-reply", "stale", "drop", "gone", "partition", "pause", "clockJump", "cloudFault", "cutSession", "diskFault", "noSpace", "pluginFault", "stopBIRD"}, verb):
		return Faulted
	}
	return OperatorsAction
}
