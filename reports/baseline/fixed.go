package baseline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/reports/layout"
)

// fixes checks whether a violation that no longer occurs is fixed: the same run without the
// violation. If fewer pods get an address, more ADDs are refused, runs end unknown or cost more,
// the change may hide the violation. It is then a change to review, not green.
func (c *comparison) fixes(all []Change) {
	if !slices.ContainsFunc(all, func(ch Change) bool { return ch.Kind == FixedViolation }) {
		return
	}
	if slices.ContainsFunc(all, func(ch Change) bool { return ch.Kind == FixedViolation && ch.What == invariant.DuplicateAddress.Name }) {
		for i := range all { // two pods do not share one any more
			if ch := &all[i]; ch.Kind == CostMoved && slices.Contains(shared, ch.Measure.Family) {
				ch.Regression = false
			}
		}
	}
	crashed := slices.ContainsFunc(all, func(ch Change) bool { return ch.Kind == FixedViolation && ch.What == invariant.ActorCrash.Name })
	if crashed { // what goes on to its end asks for more than what a panic cut short
		for i := range all {
			if ch := &all[i]; ch.Kind == CostMoved && ch.Measure.PerCall() {
				ch.Regression = false
			}
		}
	}
	but := c.otherwise(all, crashed)
	if len(but) == 0 {
		return
	}
	for i := range all {
		if ch := &all[i]; ch.Kind == FixedViolation {
			ch.Kind, ch.Regression = ChangedViolation, true
			ch.Sentence = strings.TrimSuffix(ch.Sentence, ".") + ", but this is not a fix: " + strings.Join(but, "; ") + "."
		}
	}
}

// shared lists the families of measures that count an address of two pods once.
var shared = []reports.Family{reports.Addresses, reports.Routes}

// otherwise lists the other differences from before, without those that a fix of the violation
// alone would cause. Crashed calls are incomplete and the kubelet repeats them, so neither their
// requests nor their number is compared.
func (c *comparison) otherwise(all []Change, crashed bool) (but []string) {
	say := func(format string, args ...any) { but = append(but, fmt.Sprintf(format, args...)) }
	if len(c.now.Troubles) > 0 {
		say("some of its runs end unknown")
	}
	if n, why := c.unknown(); n > 0 {
		say("%s ended unknown (%s)", layout.Plural(n, "run"), why)
	}
	now := summed(c.now.Runs)
	// A baseline older than the measure does not contain it.
	if was, ok := c.before.cost(withoutAddress); ok && was.Of != now[withoutAddress].Of {
		say("%.0f pod interfaces requested an address, before %.0f", now[withoutAddress].Of, was.Of)
	}
	del := reports.Measure{Family: reports.APICalls, Per: reports.DEL}
	dels, _ := c.before.cost(del)
	if was := dels.Of; was != now[del].Of && !(crashed && now[del].Of > 0 && now[del].Of < was) {
		say("there are %.0f DELs, before %.0f", now[del].Of, was)
	}
	if why := c.refusesMore(); why != "" {
		say("%s", why)
	}
	for i := range all {
		switch ch := &all[i]; {
		case ch.Kind == NewViolation:
			say("%s is violated", ch.What)
		case ch.Kind == CostMoved && ch.Regression, ch.Kind == CostMoved && isUsual(ch.Measure) && !crashed:
			say("%s: %s, before %s", ch.What, ch.After, ch.Before)
		}
	}
	return but
}

// isUsual reports whether a measure is of a usual call: chance does not change its requests, and a
// usual DEL with fewer requests omits something. A reconciler's pass has fewer when there is less
// to do.
func isUsual(m reports.Measure) bool { return m.Family == reports.UsualAPICalls && m.PerCall() }

// unknown counts the runs that did not finish, if all finished before: a limit was reached, or
// their process died.
func (c *comparison) unknown() (n int, why string) {
	for i := range c.before.Runs {
		if !c.before.Runs[i].Ended() {
			return 0, ""
		}
	}
	runs := c.now.Runs
	if c.now.Wide != nil {
		runs = c.now.Wide
	}
	for i := range runs {
		if r := &runs[i]; !r.Ended() {
			n++
			why = cmp.Or(why, r.Cut, strings.Join(r.Violated, ", "))
		}
	}
	return n, why
}

// refusesMore describes a run that refuses more ADDs than chance explains, by Tukey's fence, which
// is 0 where few runs refuse any. Rates counts the runs beyond it before; if none was, a few of
// many seeds may be, as with a new violation.
func (c *comparison) refusesMore() string {
	was, known := c.before.cost(refusedADDs)
	if !known { // a baseline that is older than the measure: who is refused asks again
		add := reports.Measure{Family: reports.APICalls, Per: reports.ADD}
		before, _ := c.before.cost(add)
		if n := summed(c.now.Runs)[add].Of; n > before.Of {
			return fmt.Sprintf("there are %.0f ADDs, before %.0f", n, before.Of)
		}
		return ""
	}
	most, before := was.most(), c.before.Rates[refusedADDs.String()]
	for _, runs := range [][]Run{c.now.Runs, c.now.Wide} {
		var beyond []*Run
		for i := range runs {
			if runs[i].Cost[refusedADDs].Sum > most {
				beyond = append(beyond, &runs[i])
			}
		}
		chance := maybe(refusedADDs.String(), len(beyond), len(runs))
		if before > 0 {
			chance = More(len(beyond), len(runs), before, c.before.Wide) >= surely
		}
		if len(beyond) > 0 && !chance {
			return fmt.Sprintf("%.0f ADDs are refused with seed %d, before at most %.0f", beyond[0].Cost[refusedADDs].Sum, beyond[0].Seed, most)
		}
	}
	return ""
}

// most returns the highest amount that chance explains in a run.
func (c Cost) most() float64 { return math.Max(c.High+1.5*(c.High-c.Low), c.Each()) }
