package baseline

import (
	"maps"
	"strings"
	"testing"

	"ipamsim/reports"
)

// costing gives each run of a course measures of its own in addition to those that all have.
func costing(runs []Run, more reports.Cost) []Run {
	for i := range runs {
		runs[i].Cost = maps.Clone(runs[i].Cost)
		maps.Copy(runs[i].Cost, more)
	}
	return runs
}

// outcome of the ADDs and DELs of a run: how many interfaces asked, and stayed without;
// how many ADDs were refused; how many DELs there were.
func outcomeOf(asked, without, refused, dels float64) reports.Cost {
	return reports.Cost{
		withoutAddress: {Sum: without, Of: asked}, refusedADDs: {Sum: refused, Of: 1}, perDEL: {Sum: 4 * dels, Of: dels},
	}
}

// TestFixed: what a fork fixes is fixed if nothing else is different; what hides the
// violation behind something else is not, and not green.
func TestFixed(t *testing.T) {
	const dup = "duplicate-address"
	calm := outcomeOf(10, 0, 0, 5)
	b := before(costing(three("a", dup), calm), map[string]int{dup: 90})
	b.Scenarios[0].Costs = entryOf(&Result{Runs: costing(three("a", dup), calm), Wide: costing(many(100, 90, "a", dup), calm)}).Costs
	cut := func(runs []Run, i int) []Run { runs[i].Cut = "100000 steps"; return runs }
	died := func(runs []Run, i int) []Run { runs[i] = Run{Seed: runs[i].Seed}; return runs }
	for _, x := range []struct {
		name       string
		runs, wide []Run
		troubles   []Change
		want       string // kind of the violation's change, RED or not
		why        string
	}{
		{name: "a mend", runs: costing(three("b"), calm), want: "fixed-violation"},
		{name: "an address order that refuses ADDs", runs: costing(three("b"), outcomeOf(10, 0, 2, 5)), want: "RED changed-violation", why: "2 ADDs are refused with seed 1, before at most 0"},
		{name: "that refuses them with other seeds only", runs: costing(three("b"), calm), wide: append(costing(many(97, 0, "b"), calm), costing([]Run{ran(98, "b"), ran(99, "b"), ran(100, "b")}, outcomeOf(10, 0, 1, 5))...),
			want: "RED changed-violation", why: "1 ADDs are refused with seed 98"},
		{name: "one of a hundred seeds, which may be chance", runs: costing(three("b"), calm), wide: append(costing(many(99, 0, "b"), calm), costing([]Run{ran(100, "b")}, outcomeOf(10, 0, 1, 5))...),
			want: "fixed-violation"},
		{name: "pods that stay without", runs: costing(three("b"), outcomeOf(10, 3, 0, 5)), want: "RED changed-violation", why: "pods without an address: 0.3, before 0"},
		{name: "pods that never ask", runs: costing(three("b"), outcomeOf(7, 0, 0, 5)), want: "RED changed-violation", why: "21 pod interfaces requested an address, before 30"},
		{name: "sandboxes that are never torn down", runs: costing(three("b"), outcomeOf(10, 0, 0, 2)), want: "RED changed-violation", why: "there are 6 DELs, before 15"},
		{name: "a release without its checks", runs: costing(dearer(three("b"), -2), calm), want: "RED changed-violation", why: "API calls of a usual ADD: 6, before 8"},
		{name: "it costs more", runs: costing(dearer(three("b"), 1), calm), want: "RED changed-violation", why: "API calls per ADD: 9, before 8"},
		{name: "a run that ends unknown", runs: cut(costing(three("b"), calm), 2), want: "RED changed-violation", why: "1 run ended unknown (100000 steps)"},
		{name: "with another seed", runs: costing(three("b"), calm), wide: cut(costing(many(100, 0, "b"), calm), 50), want: "RED changed-violation", why: "1 run ended unknown (100000 steps)"},
		{name: "a run that took its process along", runs: costing(three("b"), calm), wide: died(costing(many(100, 0, "b"), calm), 60), want: "RED changed-violation", why: "1 run ended unknown"},
		{name: "another one that may be chance", runs: costing(three("b"), calm), wide: costing(many(100, 1, "b", "leaked-claim"), calm), want: "RED changed-violation", why: "leaked-claim is violated"},
		{name: "a run that ipamsim could not do", runs: costing(three("b"), calm), troubles: []Change{{Kind: CannotRun, Regression: true}}, want: "RED changed-violation", why: "some of its runs end unknown"},
	} {
		if x.wide == nil {
			x.wide = append(x.runs[:3:3], costing(many(100, 0, "b"), x.runs[0].Cost)[3:]...)
		}
		o := Compare(b, []Result{{Scenario: "r1", Manager: "manager", Upstream: upstreamFork, Runs: x.runs, Wide: x.wide, Troubles: x.troubles}}, true)
		found := false
		for _, r := range o.Rows {
			for _, c := range r.Changes {
				if c.What != dup {
					continue
				}
				got := string(c.Kind)
				if c.Regression {
					got = "RED " + got
				}
				found = got == x.want && strings.Contains(c.Sentence, x.why)
				if !found {
					t.Errorf("%s: %s: %s\nwant %s: %s", x.name, got, c.Sentence, x.want, x.why)
				}
			}
		}
		if !found {
			t.Errorf("%s: %s", x.name, short(o))
		}
		if o.Red() != strings.HasPrefix(x.want, "RED") {
			t.Errorf("%s: red %t: %s", x.name, o.Red(), short(o))
		}
	}
}

// TestFixedWhereSomeAreRefused: where five of a hundred seeds refused an ADD before, as
// many may after a fix; forty are another thing.
func TestFixedWhereSomeAreRefused(t *testing.T) {
	const dup = "duplicate-address"
	calm, busy := outcomeOf(10, 0, 0, 5), outcomeOf(10, 0, 1, 5)
	refusing := func(n int, violated ...string) []Run {
		return append(costing(many(100, 0, "b", violated...)[:100-n], calm), costing(many(100, 0, "b", violated...)[100-n:], busy)...)
	}
	b := before(costing(three("a", dup), calm), map[string]int{dup: 90})
	e := entryOf(&Result{Runs: costing(three("a", dup), calm), Wide: refusing(5)})
	b.Scenarios[0].Costs, b.Scenarios[0].Rates["ADDs refused"] = e.Costs, e.Rates["ADDs refused"]
	for now, want := range map[int]string{6: "fixed-violation", 40: "RED changed-violation"} {
		o := Compare(b, []Result{{Scenario: "r1", Manager: "manager", Upstream: upstreamFork, Runs: costing(three("b"), calm), Wide: refusing(now)}}, true)
		if got := short(o); !strings.HasPrefix(got, want) {
			t.Errorf("%d runs refuse: %s, want %s", now, got, want)
		}
	}
}

// TestFixedCrash: calls that go on to their end ask for more than those that a panic cut
// short, and are not made again. That is the fix; that nothing is torn down is none.
func TestFixedCrash(t *testing.T) {
	const crash = "actor-crash"
	for want, now := range map[string]reports.Cost{
		"fixed-violation":       outcomeOf(10, 0, 0, 5),
		"RED changed-violation": outcomeOf(10, 0, 0, 0),
	} {
		b := before(costing(three("a", crash), outcomeOf(10, 10, 30, 12)), map[string]int{crash: 100})
		b.Scenarios[0].Costs = entryOf(&Result{Runs: costing(three("a", crash), outcomeOf(10, 10, 30, 12)), Wide: costing(many(100, 100, "a", crash), outcomeOf(10, 10, 30, 12))}).Costs
		runs := costing(dearer(three("b"), 3), now)
		wide := append(runs[:3:3], costing(many(100, 0, "b"), runs[0].Cost)[3:]...)
		o := Compare(b, []Result{{Scenario: "r1", Manager: "manager", Upstream: upstreamFork, Runs: runs, Wide: wide}}, true)
		if got := short(o); !strings.Contains(got, want+" "+crash) || o.Red() != strings.HasPrefix(want, "RED") {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestFixedOfOldBaseline: one that is older than the measures of ADDs that got nothing
// is read, and what it does not know is not taken for a fix: who is refused asks again.
func TestFixedOfOldBaseline(t *testing.T) {
	const dup = "duplicate-address"
	b := before(three("a", dup), map[string]int{dup: 90})
	again := reports.Cost{perADD: {Sum: 96, Of: 12}, refusedADDs: {Sum: 2, Of: 1}, withoutAddress: {Sum: 0, Of: 10}}
	for want, runs := range map[string][]Run{
		"fixed-violation duplicate-address 90 of 100 runs -> 0 of 100 runs":       three("b"),
		"RED changed-violation duplicate-address 90 of 100 runs -> 0 of 100 runs": costing(three("b"), again),
	} {
		wide := append(runs[:3:3], costing(many(100, 0, "b"), runs[0].Cost)[3:]...)
		if got := short(Compare(b, []Result{{Scenario: "r1", Manager: "manager", Upstream: upstreamFork, Runs: runs, Wide: wide}}, true)); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestVerdicts: what is to be reviewed at is not green, and what was not judged
// is neither red nor healthy.
func TestVerdicts(t *testing.T) {
	change := func(k Kind) Change { return Change{Kind: k, Regression: k != FixedViolation} }
	for want, kinds := range map[string][]Kind{
		"green: nothing got worse in 2 scenarios, some results changed":         {FixedViolation, FixedViolation},
		"RED: 1 of 2 scenarios got worse":                                       {NewViolation, FixedViolation},
		"RED: 1 of 2 scenarios changed, review":                                 {ChangedViolation, FixedViolation},
		"RED: 1 of 3 scenarios got worse, 1 of 3 scenarios changed, review":     {ChangedViolation, NewViolation, FixedViolation},
		"UNKNOWN: 2 of 3 scenarios could not be judged":                         {LeftOut, CannotRun, FixedViolation},
		"RED: 1 of 2 scenarios got worse, 1 of 2 scenarios could not be judged": {LeftOut, NewViolation},
	} {
		o := &Outcome{}
		for _, k := range kinds {
			o.Rows = append(o.Rows, Row{Changes: []Change{change(k)}})
		}
		if got := o.Verdict(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
