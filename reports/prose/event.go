package prose

import (
	"fmt"
	"strings"

	"ipamsim/model"
	"ipamsim/sim"
)

// Event returns a sentence for an entry of the history. If the subject is a process, the
// sentence begins with its verb: "begins a pass".
func Event(ev *model.Event) string {
	pod := ev.Pod.String()
	switch ev.Kind {
	case model.AddBegin:
		return fmt.Sprintf("ADD of %s begins (%s)", pod, ev.Interface)
	case model.AddEnd:
		if ev.Err != "" {
			return "ADD of " + pod + " fails: " + Reason(ev.Err)
		}
		return HandedOut(ev, nil)
	case model.DelBegin:
		return fmt.Sprintf("DEL of %s begins (%s)", pod, ev.Interface)
	case model.DelEnd:
		if ev.Err != "" {
			return "DEL of " + pod + " fails: " + Reason(ev.Err)
		}
		return "DEL of " + pod + " is done"
	case model.SandboxUp:
		return "sandbox of " + pod + " is up on " + ev.Node
	case model.SandboxDown:
		return fmt.Sprintf("sandbox of %s on %s is gone: %s", pod, ev.Node, ev.Text)
	case model.SandboxRemoved:
		return fmt.Sprintf("the runtime on %s removes the sandbox of %s", ev.Node, pod)
	case model.Reconcile:
		return "begins a pass"
	case model.Reconciled:
		if ev.Err != "" {
			return "ends its pass: " + Reason(ev.Err)
		}
		return "ends its pass"
	case model.Exited:
		if ev.Err != "" {
			return "exits: " + Reason(ev.Err)
		}
		return "exits"
	case model.NodeEvent:
		return "node " + ev.Node + ": " + ev.Text
	case model.Operator:
		if ev.Err != "" {
			return "operator: " + ev.Text + ": " + ev.Err
		}
		return "operator: " + ev.Text
	case model.ActorPanic:
		return "panics: " + firstLine(ev.Err)
	case model.Output:
		return "prints: " + ev.Text
	}
	if sim.ActorID(ev.Actor).Kind() == "hazard" {
		return "hazard: " + ev.Text
	}
	return "fault: " + ev.Text
}

// HandedOut describes a successful ADD. still lists pods that hold the same address.
func HandedOut(ev *model.Event, still []string) string {
	again := ""
	if len(still) > 0 {
		again = " AGAIN, still held by " + strings.Join(still, " and ") + ","
	}
	return fmt.Sprintf("%s is handed out%s to %s on %s (%s)", addresses(ev), again, ev.Pod, ev.Node, ev.Interface)
}

// Returned describes a successful ADD whose addresses do not concern the violation.
func Returned(ev *model.Event) string {
	return fmt.Sprintf("ADD returns %s for %s", addresses(ev), ev.Pod)
}

func addresses(ev *model.Event) string {
	all := make([]string, len(ev.Addrs))
	for i, a := range ev.Addrs {
		all[i] = a.String()
	}
	return strings.Join(all, " ")
}

// Sign states that an invariant is broken from this step on.
func Sign(v *model.Violation) string { return "from here on: " + v.Invariant }

// Since is Sign with the violation's message.
func Since(v *model.Violation) string {
	return "from here on " + v.Message + " (" + v.Invariant + ")"
}
