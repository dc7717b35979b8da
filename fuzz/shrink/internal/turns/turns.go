// Package turns joins the turns of the processes of a run.
package turns

import (
	"cmp"
	"slices"

	"ipamsim/sim"
)

// Turns are those of the processes of a run: a turn is what a process does without another in between.
type Turns struct {
	all    [][]*sim.Step
	before []int // of each turn: the turn of the same process before it, -1 if there is none
	Joints []int // turns that have one before them; those of one process follow each other
}

// Of are the turns of a run.
func Of(steps []*sim.Step) (t Turns) {
	type process struct {
		actor sim.ActorID
		life  int
	}
	last, order := map[process]int{}, []int{} // the last turn of each; which process a turn is of, by its first turn
	for i, st := range steps {
		p := process{st.Choice.Op.Actor, st.Choice.Op.Incarnation}
		n, known := last[p]
		if known && n == len(t.all)-1 {
			t.all[n] = append(t.all[n], steps[i])
			continue
		}
		at := len(t.all)
		t.all, last[p] = append(t.all, []*sim.Step{st}), at
		if !known {
			t.before, order = append(t.before, -1), append(order, at)
			continue
		}
		t.before, order = append(t.before, n), append(order, order[n])
		t.Joints = append(t.Joints, at)
	}
	slices.SortStableFunc(t.Joints, func(a, b int) int { return cmp.Compare(order[a], order[b]) })
	return t
}

// Joined are the steps with some turns where the one before them was, or that where they
// are. Times only grow.
func (t Turns) Joined(joints []int, up bool) (out []*sim.Step) {
	place, order := make([]int, len(t.all)), make([]int, len(t.all))
	for i := range place {
		place[i], order[i] = i, i
	}
	joints = slices.Sorted(slices.Values(joints))
	if !up {
		slices.Reverse(joints)
	}
	for _, j := range joints {
		if up {
			place[j] = place[t.before[j]]
		} else {
			place[t.before[j]] = place[j]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(place[a], place[b]) })
	for _, i := range order {
		for _, st := range t.all[i] {
			later := *st
			if n := len(out); n > 0 {
				later.At = max(later.At, out[n-1].At)
			}
			out = append(out, &later)
		}
	}
	return out
}
