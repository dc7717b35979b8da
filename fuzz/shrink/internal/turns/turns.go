// Package turns reorders the turns of the processes of a run.
package turns

import (
	"cmp"
	"slices"

	"ipamsim/sim"
)

// Turns are the turns of a run: a turn is a sequence of steps of one process without a step of another one.
type Turns struct {
	all    [][]*sim.Step
	before []int // for each turn the previous turn of the same process, -1 if there is none
	Joints []int // turns that have a previous one, grouped by process
}

// Of returns the turns of a run.
func Of(steps []*sim.Step) (t Turns) {
	type process struct {
		actor       sim.ActorID
		incarnation int
	}
	last, order := map[process]int{}, []int{} // the last turn of each process; for each turn, the first turn of its process
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

// Joined returns the steps with the given turns moved directly behind their previous turns (up), or the
// previous turns directly before them. Times never decrease.
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
