package strategy

import (
	"maps"
	"strings"
	"time"

	"ipamsim/sim"
)

// incarnation is one incarnation of an actor.
type incarnation struct {
	actor sim.ActorID
	n     int
}

// Edges are the orders of two messages of a run that matter: of different processes and
// about the same, as matters says, and of one process in another order than it sent
// them. What follows from others is left out. The last ones say how far every process
// had come at the end.
func Edges(steps []*sim.Step, matters func(a, b sim.Op) bool) (out []Edge) {
	// For every step the number of steps of each process that certainly came before it.
	clocks := make([]map[incarnation]int, len(steps))
	last, most := map[incarnation]int{}, map[incarnation]int{}
	var all []incarnation
	for j, st := range steps {
		op := st.Choice.Op
		p := incarnation{op.Actor, op.Incarnation}
		clock := map[incarnation]int{}
		if i, ok := last[p]; ok {
			clock = maps.Clone(clocks[i])
		} else {
			all = append(all, p)
		}
		for i := j - 1; i >= 0; i-- {
			before := steps[i].Choice.Op
			q := incarnation{before.Actor, before.Incarnation}
			switch {
			case p == q && before.Seq < op.Seq, p != q && (clock[q] > i || !matters(before, op)):
				continue
			case p != q:
				for r, n := range clocks[i] {
					clock[r] = max(clock[r], n)
				}
			}
			out = append(out, Edge{MessageOf(before), MessageOf(op), st.At + waitMax})
		}
		clock[p] = j + 1
		clocks[j], last[p], most[p] = clock, j, max(most[p], op.Seq)
	}
	for _, p := range all {
		out = append(out, Edge{Then: Message{p.actor, p.n, most[p] + 1}, Until: steps[len(steps)-1].At + waitMax})
	}
	return out
}

// waitMax is how much later than in the run a message may go; while messages are parked, time
// otherwise does not pass.
const waitMax = 500 * time.Millisecond

// Related reports whether one message writes the object of the other, or a part of it. A list with
// a query counts as one without: it may contain the written object.
func Related(a, b sim.Op) bool {
	if a.Kind != sim.Write && b.Kind != sim.Write || a.Request == nil || b.Request == nil {
		return false
	}
	return strings.HasPrefix(a.Request.Path, b.Request.Path) || strings.HasPrefix(b.Request.Path, a.Request.Path)
}

// Any is for a run in which every order counts.
func Any(_, _ sim.Op) bool { return true }
