package shrink

import (
	"slices"
	"time"

	"ipamsim/reports"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// order replaces the exceptions of a schedule with many of them by edges: which message comes before
// which other one, where that can matter; if that is not enough, all orders, but not the passing of
// time. It removes edges that the failure does not need, and then holds the messages that had to
// wait, which has the same effect with one exception for each message.
//
// Source: Huang and Zhang, An Efficient Static Trace Simplification Technique for
// Debugging Concurrent Programs, SAS 2011: runs with the same order of conflicting
// accesses are equivalent, and one of them has few switches. Here a run decides whether it still fails.
func (k *shrinker) order() {
	if !k.crowded() {
		return
	}
	own := k.orderless()
	for _, matters := range []func(a, b sim.Op) bool{strategy.Related, strategy.Any} {
		edges := strategy.Edges(k.rep.Trace.Steps, matters)
		if !k.ordered(edges, own) {
			continue
		}
		k.edges(edges, own)
		k.together()
		k.halves(func() int { return len(k.rules) }, func(i, n int) bool {
			return k.try(k.docs, slices.Delete(slices.Clone(k.rules), i, i+n))
		})
		return
	}
}

// edges removes edges in parts that are as large as possible.
func (k *shrinker) edges(edges []strategy.Edge, own []strategy.Exception) {
	least := len(edges) / edgesParts
	for n := len(edges) / 2; n > least; n /= 2 {
		for i := 0; i < len(edges) && !k.spent(); {
			rest := slices.Delete(slices.Clone(edges), i, min(i+n, len(edges)))
			if k.ordered(rest, own) {
				edges = rest
			} else {
				i += n
			}
		}
	}
}

// edgesParts limits the parts: the exceptions that are left can be removed on their own.
const edgesParts = 16

// ordered runs the scenario with edges, and keeps the result if it fails in the same way.
func (k *shrinker) ordered(edges []strategy.Edge, own []strategy.Exception) bool {
	rules, rep, ok := k.inOrder(edges, own)
	if ok {
		k.rules, k.rep, k.steps = rules, rep, min(k.steps, len(rep.Trace.Steps))
	}
	return ok
}

// inOrder returns the exceptions and the report of a run with edges, if it fails in the same way.
func (k *shrinker) inOrder(edges []strategy.Edge, own []strategy.Exception) ([]strategy.Exception, *reports.Report, bool) {
	if k.spent() {
		return nil, nil, false
	}
	rec := strategy.NewRecorder(strategy.NewOrdered(edges, own))
	rep, err := k.run(k.world, rec)
	if err != nil || k.lock.In(rep) == nil {
		return nil, nil, false
	}
	rules := rec.Exceptions()
	slices.SortStableFunc(rules, byActor)
	return rules, rep, true
}

// together holds every message that had to wait for others, for the time that it waited.
func (k *shrinker) together() bool {
	waits := map[strategy.Message]time.Duration{} // messages before which others go
	for _, e := range k.rules {
		if isOrder(e) {
			waits[e.Before] = holdLongest // if it was never executed
		}
	}
	for _, st := range k.rep.Trace.Steps {
		op := st.Choice.Op
		m := strategy.MessageOf(op)
		if _, late := waits[m]; late {
			d := st.At - op.Sent
			waits[m] = min(d+d/4+time.Millisecond, holdLongest)
		}
	}
	var rules []strategy.Exception
	for _, e := range k.rules {
		switch d, late := waits[e.Before]; {
		case !isOrder(e):
			rules = append(rules, e)
		case late:
			rules = append(rules, held(e.Before, d))
			delete(waits, e.Before)
		}
	}
	slices.SortStableFunc(rules, byActor)
	return k.try(k.docs, rules)
}
