package shrink

import (
	"cmp"
	"slices"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// kinds removes all exceptions, or all of one kind.
func (k *shrinker) kinds() {
	if len(k.rules) == 0 || k.try(k.docs, nil) {
		return
	}
	for _, drop := range []func(strategy.Exception) bool{isFault, not(isFault), isOrder, isDelay, isDraw} {
		rest := slices.DeleteFunc(slices.Clone(k.rules), drop)
		if len(rest) < len(k.rules) {
			k.try(k.docs, rest)
		}
	}
	k.brief()
}

// brief removes the short delays: if every message is delayed, as in runs of the timed strategy, the
// few long delays matter more often than the exact length of each.
func (k *shrinker) brief() {
	for _, least := range []time.Duration{time.Second, 100 * time.Millisecond, 10 * time.Millisecond} {
		if !k.crowded() {
			return
		}
		rest := slices.DeleteFunc(slices.Clone(k.rules), func(e strategy.Exception) bool {
			return isDelay(e) && e.Level < sim.Rung(least)
		})
		if len(rest) < len(k.rules) && k.try(k.docs, rest) {
			return
		}
	}
}

// exceptions removes parts of the remaining exceptions.
func (k *shrinker) exceptions() {
	k.halves(func() int { return len(k.rules) }, func(i, n int) bool {
		return k.try(k.docs, slices.Delete(slices.Clone(k.rules), i, i+n))
	})
	for i := range k.rules {
		k.plainer(i)
	}
}

// parts removes large parts of the exceptions, if there are many: those about processes that are far from
// the violation, then a quarter, an eighth or a sixteenth. As long as there are many exceptions,
// hardly anything else can be removed.
func (k *shrinker) parts() {
	if !k.crowded() {
		return
	}
	rank := k.ranks()
	for near := range 2 {
		rest := slices.DeleteFunc(slices.Clone(k.rules), func(e strategy.Exception) bool {
			return isAboutOrder(e) && rank(e.Message.Actor) > near && rank(e.Before.Actor) > near
		})
		if k.try(k.docs, rest) {
			break
		}
	}
	for n := len(k.rules) / 4; n > holdMin && n >= len(k.rules)/16; n /= 2 {
		for i := 0; i < len(k.rules) && !k.spent(); {
			if !k.try(k.docs, slices.Delete(slices.Clone(k.rules), i, min(i+n, len(k.rules)))) {
				i += n
			}
		}
	}
}

// plainer simplifies one exception: time passes once.
func (k *shrinker) plainer(i int) {
	if i >= len(k.rules) || k.rules[i].Times < 2 || k.rules[i].Outcome != sim.Elapse {
		return
	}
	for times := 1; times < k.rules[i].Times; times *= 2 {
		rules := slices.Clone(k.rules)
		rules[i].Times = times
		if k.try(k.docs, rules) {
			return
		}
	}
}

// halves removes parts of a list of length() elements as long as that works: halves first, single
// elements last. drop removes n elements from the i-th on.
//
// Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing
// Input, 2002 (ddmin), without the step that keeps a subset and removes its complement.
func (k *shrinker) halves(length func() int, drop func(i, n int) bool) {
	for n := (length() + 1) / 2; n >= 1; n /= 2 {
		for i := 0; i < length() && !k.spent(); {
			if !drop(i, min(n, length()-i)) {
				i += n
			}
		}
	}
}

func isFault(e strategy.Exception) bool { return e.Outcome.Fault() }
func isDelay(e strategy.Exception) bool { return e.Outcome == sim.Delay }
func isOrder(e strategy.Exception) bool { return e.Before != strategy.Message{} }
func isDraw(e strategy.Exception) bool  { return e.Outcome == sim.Proceed && !isOrder(e) }

func not(is func(strategy.Exception) bool) func(strategy.Exception) bool {
	return func(e strategy.Exception) bool { return !is(e) }
}

// byActor sorts exceptions by process; those about what goes before the same message keep their order.
func byActor(a, b strategy.Exception) int { return cmp.Compare(about(a).Actor, about(b).Actor) }

func about(e strategy.Exception) strategy.Message {
	if isOrder(e) {
		return e.Before
	}
	return e.Message
}
