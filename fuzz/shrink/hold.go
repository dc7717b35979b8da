package shrink

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// hold looks for one message that, held while everybody else goes on, makes the
// failure instead of all the exceptions about order: a random walk needs dozens of
// them to say what one delay says. Most failures need one forced switch (SEARCH.md;
// Musuvathi and Qadeer, Iterative Context Bounding, 2007).
//
// Candidates are the messages at which a process was interrupted the longest, those
// of processes that work for a pod of the violation first.
func (k *shrinker) hold() {
	if len(k.rules) <= holdMin || k.rep == nil {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(k.rules), func(e strategy.Exception) bool { return isOrder(e) || isDelay(e) })
	if len(k.rules)-len(rest) <= holdMin {
		return
	}
	// Until the violation is long enough for whatever the script does at its times.
	all := k.rep.Trace.Steps
	until := min(all[len(all)-1].At, holdLongest)
	for _, m := range k.interrupted() {
		for _, long := range []time.Duration{until, time.Second} {
			held := strategy.Exception{Message: m, Outcome: sim.Delay, Level: sim.Rung(long)}
			rules := append(slices.Clone(rest), held)
			slices.SortStableFunc(rules, byActor)
			if k.spent() || k.try(k.docs, rules) {
				return
			}
		}
	}
}

const (
	holdMin  = 4  // fewer exceptions are dropped one by one
	holdsMax = 24 // candidates
	// holdLongest is what the stall strategy allows: a server that is slower than that
	// makes anything fail.
	holdLongest = 28 * time.Second
)

// interrupted lists the messages between which and the one before of the same
// process most other messages went, those first.
func (k *shrinker) interrupted() []strategy.Message {
	type gap struct {
		m     strategy.Message
		steps int
		other int // 0 for who works for a pod of the violation, else 1
	}
	pods := k.concerned()
	var gaps []gap
	last := map[sim.ActorID]int{}
	for i, st := range k.rep.Trace.Steps {
		op := st.Choice.Op
		if before, ok := last[op.Actor]; ok && op.Kind != sim.Event && op.Kind != sim.Local && i-before > 1 {
			g := gap{strategy.Message{Actor: op.Actor, Life: op.Life, Seq: op.Seq}, i - before, 1}
			if slices.ContainsFunc(pods, func(pod string) bool { return strings.Contains(string(op.Actor), "/"+pod) }) {
				g.other = 0
			}
			gaps = append(gaps, g)
		}
		last[op.Actor] = i
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Or(cmp.Compare(a.other, b.other), cmp.Compare(b.steps, a.steps)) })
	var out []strategy.Message
	for _, g := range gaps[:min(len(gaps), holdsMax)] {
		out = append(out, g.m)
	}
	return out
}

// concerned are the pods of the violation, NAMESPACE/NAME.
func (k *shrinker) concerned() []string {
	var pods []string
	if v := k.lock.In(k.rep); v != nil {
		for _, o := range v.Objects {
			if o.Kind == model.RefPod {
				pods = append(pods, o.Name)
			}
		}
	}
	return pods
}
