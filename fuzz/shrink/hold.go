package shrink

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"ipamsim/fuzz/shrink/internal/tree"
	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// hold tries to replace all exceptions about order by one message that is held while all other
// processes continue. A random walk needs dozens of exceptions for the effect of one delay. Most
// failures need one forced switch (sim/strategy/README.md; Musuvathi and Qadeer, Iterative Context
// Bounding, 2007).
//
// Candidates are the messages before which their process was interrupted for the most steps: first those
// of the process that broke the invariant, because it may have acted on an outdated read, then those of
// processes that work for a pod of the violation, then those of others.
func (k *shrinker) hold() {
	if !k.crowded() {
		return
	}
	rest := k.orderless()
	// The time until the violation is long enough for every event of the script. In the default
	// order a run may take no virtual time.
	steps := k.rep.Trace.Steps
	long, short := max(holdLeast, min(steps[len(steps)-1].At, holdLongest)), time.Second
	if long <= short {
		short = long / 5
	}
	candidates := k.interrupted()
	for _, m := range candidates {
		for _, d := range []time.Duration{long, short} {
			if k.spent() || k.holds(rest, held(m, d)) {
				return
			}
		}
	}
	k.holdTwo(candidates, rest, short, long)
}

// holdTwo tries two messages of different processes: the first is held until the second process has
// reached its message, which is held until the first message is done. A race needs this if one
// process begins after the other has ended.
func (k *shrinker) holdTwo(candidates []strategy.Message, rest []strategy.Exception, short, long time.Duration) {
	left := min(pairsMax, pairsSteps/k.steps)
	for sum := 1; sum < 2*len(candidates); sum++ { // the most likely pairs first
		for i := range min(sum+1, len(candidates)) {
			j := sum - i
			if j >= len(candidates) || candidates[i].Actor == candidates[j].Actor {
				continue
			}
			if left--; left < 0 || k.spent() || k.holds(rest, held(candidates[i], short), held(candidates[j], long)) {
				return
			}
		}
	}
}

func held(m strategy.Message, d time.Duration) strategy.Exception {
	return strategy.Exception{Message: m, Outcome: sim.Delay, Level: sim.Rung(d)}
}

// holds tries held messages instead of all exceptions about order.
func (k *shrinker) holds(rest []strategy.Exception, messages ...strategy.Exception) bool {
	return k.sorted(k.docs, append(slices.Clone(rest), messages...))
}

// sorted tries exceptions, sorted by process.
func (k *shrinker) sorted(docs []tree.Tree, rules []strategy.Exception) bool {
	slices.SortStableFunc(rules, byActor)
	return k.try(docs, rules)
}

const (
	holdMin  = 4  // fewer exceptions are removed one by one
	holdsMax = 12 // candidates
	// pairsMax is the limit for small scenarios. It is lower for large ones, whose runs take
	// longer.
	pairsMax, pairsSteps = 24, 4000
	// holdLongest is the limit of the stall strategy: with a slower server anything may fail.
	// holdLeast fits into any script.
	holdLeast, holdLongest = 500 * time.Millisecond, 28 * time.Second
)

// interrupted lists messages that other messages separate from the previous one of the same process,
// the most separated first.
func (k *shrinker) interrupted() []strategy.Message {
	type gap struct {
		m           strategy.Message
		steps, rank int
	}
	rank := k.ranks()
	var gaps []gap
	last := map[sim.ActorID]int{}
	for i, st := range k.rep.Trace.Steps {
		op := st.Choice.Op
		if before, ok := last[op.Actor]; ok && op.Kind != sim.Event && op.Kind != sim.Local && i-before > 1 {
			gaps = append(gaps, gap{strategy.MessageOf(op), i - before, rank(op.Actor)})
		}
		last[op.Actor] = i
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(b.steps, a.steps) })
	var out []strategy.Message
	for next := 0; len(out) < holdsMax && len(gaps) > 0; next = (next + 1) % 3 {
		if i := slices.IndexFunc(gaps, func(g gap) bool { return g.rank == next }); i >= 0 {
			out = append(out, gaps[i].m)
			gaps = slices.Delete(gaps, i, i+1)
		}
	}
	return out
}

// ranks returns how close a process is to the violation: 0 for the process that broke the invariant, 1
// for one that works for a pod or node of the violation, otherwise 2.
func (k *shrinker) ranks() func(sim.ActorID) int {
	broke := k.rep.Trace.Steps[len(k.rep.Trace.Steps)-1].Choice.Op.Actor // the last step broke the invariant
	pods := k.concerned()
	return func(a sim.ActorID) int {
		switch {
		case a == broke:
			return 0
		case slices.ContainsFunc(pods, func(pod string) bool { return strings.Contains(string(a), "/"+pod) }):
			return 1
		}
		return 2
	}
}

// concerned returns the pods of the violation, as NAMESPACE/NAME, and its nodes with an address of their
// own.
func (k *shrinker) concerned() []string {
	var pods []string
	if v := k.lock.In(k.rep); v != nil {
		for _, o := range v.Objects {
			if o.Kind == model.RefPod {
				pods = append(pods, strings.TrimPrefix(o.Name, "/")) // a node has no namespace
			}
		}
	}
	return pods
}
