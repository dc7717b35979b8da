package remedy

import (
	"strings"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// Cordon keeps new pods away from nodes.
type Cordon struct{ Nodes []string }

// Say says where no pod starts.
func (c Cordon) Say() string { return "let no new pod start on " + Some(c.Nodes) }

// Commands is kubectl cordon.
func (c Cordon) Commands() []string { return []string{"kubectl cordon " + Shell(c.Nodes)} }

// Aside says that only where pods start changes.
func (Cordon) Aside() {}

// Perform cordons them.
func (c Cordon) Perform(s *Stage) {
	for _, n := range c.Nodes {
		s.Do(scenarios.Event{Cordon: &action.Cordon{Node: n}})
	}
}

// Uncordon lets pods come again.
type Uncordon struct {
	Nodes []string
	// Claims is the one of them whose next pod claims a block; "": none.
	Claims string
}

// Say says where pods start again.
func (u Uncordon) Say() string {
	out := "let pods start on " + Some(u.Nodes) + " again"
	if u.Claims != "" {
		out += ": the first one on " + u.Claims + " claims the block (scenarios/w4-repair-by-hand.yaml)"
	}
	return out
}

// Commands is kubectl uncordon.
func (u Uncordon) Commands() []string { return []string{"kubectl uncordon " + Shell(u.Nodes)} }

// Aside says that only where pods start changes.
func (Uncordon) Aside() {}

// Perform uncordons them.
func (u Uncordon) Perform(s *Stage) {
	for _, n := range u.Nodes {
		s.Do(scenarios.Event{Cordon: &action.Cordon{Node: n, Undo: true}})
	}
}

// Notice is for the reader only: what is left for another time.
type Notice struct{ Cordoned []string }

// Say says what comes next.
func (n Notice) Say() string {
	return "leave " + Some(n.Cordoned) + " cordoned until then, dump and import again for the next block"
}

// Commands are none.
func (n Notice) Commands() []string { return nil }

// Aside says that nothing changes.
func (Notice) Aside() {}

// Perform does nothing.
func (Notice) Perform(*Stage) {}

// Shell quotes names for a command line.
func Shell(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = reports.Shell(n)
	}
	return strings.Join(out, " ")
}
