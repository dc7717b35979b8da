package shrink

import (
	"cmp"
	"slices"

	"ipamsim/fuzz/finding"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// merge joins the turns of processes in a schedule that is still crowded: what a process
// does next follows at once what it did before (up), or that waits for it (down), and all
// the rest keeps its order. Dropping an exception leaves the turn to whoever is next in
// the default order instead, so that the exceptions behind it mean something else.
//
// Source: Jalbert and Sen, A Trace Simplification Technique for Effective Debugging of
// Concurrent Programs, FSE 2010.
func (k *shrinker) merge() {
	own := slices.DeleteFunc(slices.Clone(k.rules), isOrder)
	for _, up := range []bool{true, false} {
		t, left := turnsOf(k.rep.Trace.Steps), mergesMax
		for n := len(t.joints); n >= 1 && left > 0; n /= 2 {
			for i := 0; i < len(t.joints) && left > 0; left-- {
				if orders(k.rules) <= finding.SwitchesMax || k.spent() {
					return
				}
				if !k.joined(t.joined(t.joints[i:min(i+n, len(t.joints))], up), own) {
					i += n
					continue
				}
				t = turnsOf(k.rep.Trace.Steps)
			}
		}
	}
}

// mergesMax runs in each direction are about as much work as anew.
const mergesMax = 30

// joined tries the world with its messages in another order, and takes what the run comes
// to if that needs fewer switches.
func (k *shrinker) joined(steps []*sim.Step, own []strategy.Exception) bool {
	rules, rep, ok := k.inOrder(strategy.Edges(steps, strategy.Any), own)
	if !ok || orders(rules) >= orders(k.rules) {
		return false
	}
	k.rules, k.rep, k.steps = rules, rep, min(k.steps, len(rep.Trace.Steps))
	return true
}

// turns of processes in a run: a turn is what a process does without another in between.
type turns struct {
	all    [][]*sim.Step
	before []int // of each turn: the turn of the same process before it, -1 if there is none
	joints []int // turns that have one before them; those of one process follow each other
}

func turnsOf(steps []*sim.Step) (t turns) {
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
		t.joints = append(t.joints, at)
	}
	slices.SortStableFunc(t.joints, func(a, b int) int { return cmp.Compare(order[a], order[b]) })
	return t
}

// joined are the steps with some turns where the one before them was, or that where they
// are. Times only grow.
func (t turns) joined(joints []int, up bool) (out []*sim.Step) {
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
