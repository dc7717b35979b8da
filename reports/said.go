package reports

import (
	"fmt"
	"strings"

	"ipamsim/model"
)

// said is an entry of the history as a sentence for people. What a process does
// begins with its verb: "begins a pass".
func said(ev model.Event) string {
	pod := ev.Pod.String()
	switch ev.Kind {
	case model.AddBegin:
		return fmt.Sprintf("ADD of %s begins (%s)", pod, ev.Interface)
	case model.AddEnd:
		if ev.Err != "" {
			return "ADD of " + pod + " fails: " + reason(ev.Err)
		}
		return fmt.Sprintf("%s is handed out to %s on %s (%s)", list(ev.Addrs), pod, ev.Node, ev.Interface)
	case model.DelBegin:
		return fmt.Sprintf("DEL of %s begins (%s)", pod, ev.Interface)
	case model.DelEnd:
		if ev.Err != "" {
			return "DEL of " + pod + " fails: " + reason(ev.Err)
		}
		return "DEL of " + pod + " is done"
	case model.SandboxUp:
		return "sandbox of " + pod + " is up on " + ev.Node
	case model.SandboxDown:
		return fmt.Sprintf("sandbox of %s on %s is gone: %s", pod, ev.Node, ev.Text)
	case model.Reconcile:
		return "begins a pass"
	case model.Reconciled:
		if ev.Err != "" {
			return "ends its pass: " + reason(ev.Err)
		}
		return "ends its pass"
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
	if strings.HasPrefix(ev.Actor, "hazard/") {
		return "hazard: " + ev.Text
	}
	return "fault: " + ev.Text
}
