package strategy

import (
	"slices"

	"ipamsim/sim"
)

// order is that in which the processes of a run sent their messages: those that are there come
// before those that come after a decision.
type order map[Message]int

// record adds the messages that wait at a decision.
func (o order) record(enabled []sim.Choice) {
	var came []sim.Choice
	for _, c := range enabled[:len(enabled)-1] {
		if m := MessageOf(c.Op); o[m] == 0 {
			o[m] = len(o) + 1
			came = append(came, c)
		}
	}
	// Those that came now, in their own order.
	slices.SortStableFunc(came, sim.Simultaneous)
	for i, c := range came {
		o[MessageOf(c.Op)] = len(o) - len(came) + i + 1
	}
}

// overtakes reports whether a message could go that the process of this one sent earlier.
func (o order) overtakes(enabled []sim.Choice, op sim.Op) bool {
	at := o[MessageOf(op)]
	return slices.ContainsFunc(enabled, func(c sim.Choice) bool {
		return c.Outcome == sim.Proceed && c.Op.Actor == op.Actor && o[MessageOf(c.Op)] < at
	})
}
