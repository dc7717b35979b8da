package strategy

import (
	"cmp"
	"slices"
	"strings"

	"ipamsim/sim"
)

// order is that in which the processes of a run sent their messages. Which of two goroutines
// of a process was first says nothing of what the process did, so messages that came between
// two decisions are in the order of what they are about.
type order struct {
	came  map[message]int // at which decision
	looks int
}

type message struct {
	actor            sim.ActorID
	incarnation, seq int
}

func of(op *sim.Op) message { return message{op.Actor, op.Incarnation, op.Seq} }

// look takes in what waits at a decision.
func (o *order) look(enabled []sim.Choice) {
	if o.came == nil {
		o.came = map[message]int{}
	}
	o.looks++
	for i := range enabled {
		m := of(&enabled[i].Op)
		if _, ok := o.came[m]; !ok {
			o.came[m] = o.looks
		}
	}
}

// overtakes reports whether a message could go that the process of this one sent earlier.
func (o *order) overtakes(enabled []sim.Choice, op *sim.Op) bool {
	return slices.ContainsFunc(enabled, func(c sim.Choice) bool {
		return c.Outcome == sim.Proceed && c.Op.Actor == op.Actor && c.Op.Seq != op.Seq && o.earlier(&c.Op, op)
	})
}

func (o *order) earlier(a, b *sim.Op) bool {
	return cmp.Or(cmp.Compare(o.came[of(a)], o.came[of(b)]), strings.Compare(a.About(), b.About()), cmp.Compare(a.Seq, b.Seq)) < 0
}
