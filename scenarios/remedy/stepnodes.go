package remedy

import (
	"strings"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// Cordon keeps new pods away from nodes.
type Cordon struct{ Nodes []string }

// Say describes the cordon.
func (c Cordon) Say() string { return "let no new pod start on " + Some(c.Nodes) }

// Commands returns kubectl cordon.
func (c Cordon) Commands() []string { return []string{"kubectl cordon " + Shell(c.Nodes)} }

// Aside marks a step that affects only where pods start.
func (Cordon) Aside() {}

// Perform cordons the nodes.
func (c Cordon) Perform(s *Script) {
	for _, n := range c.Nodes {
		s.Do(scenarios.Event{Action: &action.Cordon{Node: n}})
	}
}

// Uncordon lets pods start on nodes again.
type Uncordon struct {
	Nodes []string
	// Claims is the node whose next pod claims a block; "": none.
	Claims string
}

// Say describes the uncordon.
func (u Uncordon) Say() string {
	out := "let pods start on " + Some(u.Nodes) + " again"
	if u.Claims != "" {
		out += ": the first one on " + u.Claims + " claims the block (scenarios/w4-repair-by-hand.yaml)"
	}
	return out
}

// Commands returns kubectl uncordon.
func (u Uncordon) Commands() []string { return []string{"kubectl uncordon " + Shell(u.Nodes)} }

// Aside marks a step that affects only where pods start.
func (Uncordon) Aside() {}

// Perform uncordons the nodes.
func (u Uncordon) Perform(s *Script) {
	for _, n := range u.Nodes {
		s.Do(scenarios.Event{Action: &action.Cordon{Node: n, Undo: true}})
	}
}

// Notice informs the reader what to leave as it is; it changes nothing.
type Notice struct{ Cordoned []string }

// Say describes the next round.
func (n Notice) Say() string {
	return "leave " + Some(n.Cordoned) + " cordoned; dump and import again for the next block"
}

// Commands returns none.
func (n Notice) Commands() []string { return nil }

// Aside marks a step that changes nothing.
func (Notice) Aside() {}

// Perform does nothing.
func (Notice) Perform(*Script) {}

// Shell quotes names for a command line.
func Shell(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = reports.Shell(n)
	}
	return strings.Join(out, " ")
}
