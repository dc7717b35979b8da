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

// hold looks for one message that, held while everybody else goes on, makes the
// failure instead of all the exceptions about order: a random walk needs dozens of
// them to say what one delay says. Most failures need one forced switch (sim/strategy/README.md;
// Musuvathi and Qadeer, Iterative Context Bounding, 2007).
//
// Candidates are the messages at which a process was interrupted the longest, in turn
// of the process that broke it, which may have acted on what it had read before, of
// those that work for a pod of the violation, and of others.
func (k *shrinker) hold() {
	if !k.crowded() {
		return
	}
	rest := k.orderless()
	// Until the violation is long enough for whatever the script does at its times. In
	// the default order a run may take no time at all.
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

// holdTwo looks for two messages of different processes: the first is held until the
// second process has come to its own, which is held until the first is done. That is
// what a race needs of two processes of which one starts later than the other ends.
func (k *shrinker) holdTwo(candidates []strategy.Message, rest []strategy.Exception, short, long time.Duration) {
	left := min(pairsMax, pairsSteps/k.steps)
	for sum := 1; sum < 2*len(candidates); sum++ { // the promising ones first
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

// holds tries messages that are held instead of all that is about order.
func (k *shrinker) holds(rest []strategy.Exception, messages ...strategy.Exception) bool {
	return k.sorted(k.docs, append(slices.Clone(rest), messages...))
}

// sorted tries exceptions in the order in which neighbours belong together.
func (k *shrinker) sorted(docs []tree.Tree, rules []strategy.Exception) bool {
	slices.SortStableFunc(rules, byActor)
	return k.try(docs, rules)
}

const (
	holdMin  = 4  // fewer exceptions are dropped one by one
	holdsMax = 12 // candidates
	// pairsMax pairs are tried in a small world, fewer in a large one, of which a run
	// is more work.
	pairsMax, pairsSteps = 24, 4000
	// holdLongest is what the stall strategy allows: a server that is slower than that
	// makes anything fail. holdLeast fits into any script.
	holdLeast, holdLongest = 500 * time.Millisecond, 28 * time.Second
)

// interrupted lists messages between which and the one before of the same process
// other messages went, those with the most first.
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

// ranks says of each process how near it is to the violation: 0 for who broke it, 1 for
// who works for a pod or node that it concerns, else 2.
func (k *shrinker) ranks() func(sim.ActorID) int {
	broke := k.rep.Trace.Steps[len(k.rep.Trace.Steps)-1].Choice.Op.Actor // where the run ended
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

// concerned are the pods of the violation, NAMESPACE/NAME, and the nodes with an address
// of their own.
func (k *shrinker) concerned() []string {
	var pods []string
	if v := k.lock.In(k.rep); v != nil {
		for _, o := range v.Objects {
			if o.Kind == model.RefPod {
				pods = append(pods, strings.TrimPrefix(o.Name, "/")) // a node's has no namespace
			}
		}
	}
	return pods
}
