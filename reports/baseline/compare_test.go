package baseline

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ipamsim/reports"
)

var (
	perADD        = reports.Measure{Family: reports.APICalls, Per: reports.ADD}
	perDEL        = reports.Measure{Family: reports.APICalls, Per: reports.DEL}
	usualADD      = reports.Measure{Family: reports.UsualAPICalls, Per: reports.ADD}
	timeADD       = reports.Measure{Family: reports.TimeMedian, Per: reports.ADD}
	addressesMost = reports.Measure{Family: reports.Addresses, When: reports.AtMost}
)

const (
	upstreamThen = "example.org/manager@v1.0.0"
	upstreamFork = "example.org/manager@v1.0.0 => ../manager"
)

// ran is a run under a seed: on which course, and what it violated. A course is a
// letter; the same letter is the same course.
func ran(seed uint64, course string, violated ...string) Run {
	hex := fmt.Sprintf("%016x", []byte(course)[0])
	return Run{Seed: seed, Steps: 1000, Digest: hex, Store: hex, Violated: violated, Cost: reports.Cost{
		perADD: {Sum: 80, Of: 10}, usualADD: {Sum: 8, Of: 1},
	}}
}

// many runs of the seeds from 1 on; the first k violate something.
func many(n, k int, course string, violated ...string) []Run {
	var out []Run
	for i := range n {
		if i < k {
			out = append(out, ran(uint64(i+1), course, violated...))
		} else {
			out = append(out, ran(uint64(i+1), course))
		}
	}
	return out
}

// before is a baseline of one scenario, r1: what its first three runs violated, and
// in how many of a hundred each invariant.
func before(runs []Run, rates map[string]int) *Baseline {
	r := Result{Scenario: "r1", Manager: "manager", Upstream: upstreamThen, Runs: runs, Wide: many(100, 0, "a")}
	b := Of(nil, []Result{r}, true)
	b.Scenarios[0].Rates = rates
	return b
}

func three(course string, violated ...string) []Run { return many(3, 3, course, violated...) }

// TestCompare: what is worse, what is reported, and what is only chance.
func TestCompare(t *testing.T) {
	dup := func(n int) map[string]int { return map[string]int{"duplicate-address": n} }
	for _, x := range []struct {
		name     string
		before   *Baseline
		runs     []Run
		wide     []Run
		upstream string
		known    []string
		want     string // kind: what, RED if it is
	}{
		{name: "nothing moved", before: before(three("a", "duplicate-address"), dup(90)), runs: three("a", "duplicate-address")},
		{name: "an oracle that sees more: the same messages, and a violation", before: before(three("a"), nil), runs: three("a", "leaked-claim"),
			want: "RED new-violation leaked-claim 0 of 3 runs -> 3 of 3 runs"},
		{name: "an oracle that sees less", before: before(three("a", "leaked-claim"), map[string]int{"leaked-claim": 100}), runs: three("a"),
			want: "RED vanished-violation leaked-claim 3 of 3 runs -> 0 of 3 runs"},
		{name: "and of a fork, too: a course is a course", before: before(three("a", "leaked-claim"), nil), runs: three("a"), upstream: upstreamFork,
			want: "RED vanished-violation leaked-claim 3 of 3 runs -> 0 of 3 runs"},
		{name: "a crash that a fork mends, after the last message", before: before(three("a", "actor-crash"), map[string]int{"actor-crash": 100}), runs: three("a"), upstream: upstreamFork,
			want: "fixed-violation actor-crash 100 of 100 runs -> 0 of 3 runs"},
		{name: "a crash that is not seen any more, same upstream", before: before(three("a", "actor-crash"), nil), runs: three("a"),
			want: "RED vanished-violation actor-crash 3 of 3 runs -> 0 of 3 runs"},
		{name: "a fork that crashes after the last message", before: before(three("a"), nil), runs: three("a", "actor-crash"), upstream: upstreamFork,
			want: "RED new-violation actor-crash 0 of 100 runs -> 3 of 3 runs"},
		{name: "an allocator that hands out addresses twice", before: before(three("a"), nil), runs: three("b", "duplicate-address"), wide: many(100, 80, "b", "duplicate-address"),
			upstream: upstreamFork, want: "RED new-violation duplicate-address 0 of 100 runs -> 80 of 100 runs"},
		{name: "the same in a gate that has run three seeds only", before: before(three("a"), nil), runs: three("b", "duplicate-address"),
			upstream: upstreamFork, want: "RED new-violation duplicate-address 0 of 100 runs -> 3 of 3 runs"},
		{name: "a rare race that shows for the first time", before: before(three("a"), nil), runs: many(3, 1, "b", "duplicate-address"), wide: many(100, 1, "b", "duplicate-address"),
			upstream: upstreamFork, want: "new-violation duplicate-address 0 of 100 runs -> 1 of 100 runs"},
		{name: "a known race that shows under another seed", before: before(three("a"), dup(10)), runs: many(3, 1, "b", "duplicate-address"), wide: many(100, 12, "b", "duplicate-address"),
			upstream: upstreamFork},
		{name: "one that the scenario says there may be", before: before(three("a"), nil), runs: many(3, 1, "b", "duplicate-address"), wide: many(100, 3, "b", "duplicate-address"),
			upstream: upstreamFork, known: []string{"duplicate-address"}},
		{name: "a known race that is four times as frequent", before: before(three("a"), dup(10)), runs: three("b", "duplicate-address"), wide: many(100, 40, "b", "duplicate-address"),
			upstream: upstreamFork, want: "RED new-violation duplicate-address 10 of 100 runs -> 40 of 100 runs"},
		{name: "a race that its own seed misses now", before: before(three("a", "duplicate-address"), dup(27)), runs: three("b"), wide: many(100, 25, "b", "duplicate-address"),
			upstream: upstreamFork},
		{name: "a window that a fork mends", before: before(three("a", "duplicate-address"), dup(27)), runs: three("b"), wide: many(100, 0, "b"),
			upstream: upstreamFork, want: "fixed-violation duplicate-address 27 of 100 runs -> 0 of 100 runs"},
		{name: "one that is gone though upstream is the same", before: before(three("a", "duplicate-address"), dup(27)), runs: three("b"), wide: many(100, 0, "b"),
			want: "RED vanished-violation duplicate-address 27 of 100 runs -> 0 of 100 runs"},
		{name: "a race too rare to say that it is gone", before: before(three("a", "duplicate-address"), dup(3)), runs: three("b"), wide: many(100, 0, "b"), upstream: upstreamFork},
		{name: "a finding that is not run, nor known", before: before(three("a"), nil), runs: nil, want: "RED missing-scenario scenario present -> missing"},
	} {
		t.Run(x.name, func(t *testing.T) {
			var now []Result
			if x.runs != nil {
				now = []Result{{Scenario: "r1", Manager: "manager", Upstream: upstreamThen, File: "scenarios/r1.yaml", Runs: x.runs, Wide: x.wide, Known: x.known}}
				if x.upstream != "" {
					now[0].Upstream = x.upstream
				}
			}
			if got := short(Compare(x.before, now, true)); got != x.want {
				t.Errorf("%s\nwant %s", got, x.want)
			}
		})
	}
}

// short is an outcome in short.
func short(o *Outcome) string {
	var out []string
	for _, r := range o.Rows {
		for _, c := range r.Changes {
			s := fmt.Sprintf("%s %s %s -> %s", c.Kind, c.What, c.Before, c.After)
			if c.Regression {
				s = "RED " + s
			}
			out = append(out, s)
		}
	}
	return strings.Join(out, "; ")
}

// TestDoubts: more seeds are run where a run took another course and something is
// different, and nowhere else.
func TestDoubts(t *testing.T) {
	b := before(three("a"), nil)
	for _, x := range []struct {
		name string
		runs []Run
		want bool
	}{
		{"the same", three("a"), false},
		{"judged otherwise", three("a", "leaked-claim"), false},
		{"another course to the same end", three("b"), false},
		{"another course that breaks something", many(3, 1, "b", "leaked-claim"), true},
		{"that breaks it every time, which no chance does", three("b", "leaked-claim"), false},
		{"another course that costs more, as all of the manager do", dearer(three("b"), 3), false},
		{"another course that a limit cuts short", endless(many(3, 1, "b", "leaked-claim")), false},
		{"the same course that costs more", dearer(three("a"), 3), false},
	} {
		if got := len(Doubts(b, []Result{{Scenario: "r1", Manager: "manager", Runs: x.runs}})) > 0; got != x.want {
			t.Errorf("%s: doubtful %t, want %t", x.name, got, x.want)
		}
	}
}

// TestDoubtsOfCosts: one scenario that costs more is a doubt, if not all do.
func TestDoubtsOfCosts(t *testing.T) {
	both := func(runs, others []Run) []Result {
		return []Result{{Scenario: "r1", Manager: "manager", Runs: runs, Wide: nil}, {Scenario: "r2", Manager: "manager", Runs: others}}
	}
	then := both(three("a"), three("a"))
	for i := range then {
		then[i].Wide = many(100, 0, "a")
	}
	if got := Doubts(Of(nil, then, true), both(dearer(three("b"), 3), dearer(three("b"), -3))); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("%v, want both", got)
	}
}

// TestDecided: what is red whatever comes is decided, and nothing that may still turn
// out to be chance.
func TestDecided(t *testing.T) {
	const dup = "duplicate-address"
	never, rare, window := before(three("a"), nil), before(three("a"), map[string]int{dup: 10}), before(three("a", dup), map[string]int{dup: 90})
	dead := []Run{{Seed: 1, Violated: []string{"stuck"}}}
	for _, x := range []struct {
		name       string
		before     *Baseline
		runs, wide []Run
		want       bool
	}{
		{"as before", never, three("b"), nil, false},
		{"never seen before, in all", never, three("b", dup), nil, true},
		{"never seen before, in as few as may be chance", never, many(3, 2, "b", dup), nil, false},
		{"nor in more of them", never, many(3, 1, "b", dup), many(11, 2, "b", dup), false},
		{"never seen before, in more than chance explains", never, many(3, 2, "b", dup), many(11, 3, "b", dup), true},
		{"seen before, and in all", rare, three("b", dup), nil, false},
		{"as rare as before", rare, many(3, 1, "b", dup), many(60, 12, "b", dup), false},
		{"so often that the rest does not matter", rare, three("b", dup), many(60, 40, "b", dup), true},
		{"gone, so far", window, three("b"), many(60, 0, "b"), false},
		{"a limit", never, endless(many(1, 0, "b")), nil, true},
		{"its process died", never, dead, nil, true},
	} {
		if got := Decided(x.before, &Result{Scenario: "r1", Manager: "manager", Runs: x.runs, Wide: x.wide}); got != x.want {
			t.Errorf("%s: decided %t, want %t", x.name, got, x.want)
		}
	}
	if Decided(never, &Result{Scenario: "another"}) {
		t.Error("nothing is known of it")
	}
}

// endless runs reach a limit.
func endless(runs []Run) []Run {
	for i := range runs {
		runs[i].Cut = "100000 steps"
	}
	return runs
}

// dearer runs ask for so many calls more for each ADD.
func dearer(runs []Run, calls float64) []Run {
	for i := range runs {
		runs[i].Cost = reports.Cost{perADD: {Sum: 80 + 10*calls, Of: 10}, usualADD: {Sum: 8 + calls, Of: 1}}
	}
	return runs
}

// TestCosts: one call more for each ADD is red, one less is reported, and all scenarios
// of a manager together show what each of them hides.
func TestCosts(t *testing.T) {
	one := func(runs, wide []Run) string {
		return short(Compare(before(three("a"), nil), []Result{{Scenario: "r1", Manager: "manager", Upstream: upstreamFork, Runs: runs, Wide: wide}}, true))
	}
	if got := one(three("a"), nil); got != "" {
		t.Errorf("the same: %s", got)
	}
	if got, want := one(dearer(three("b"), 1), dearer(many(100, 0, "b"), 1)),
		"RED cost API calls of a usual ADD 8 -> 9; RED cost API calls per ADD 8 -> 9"; got != want {
		t.Errorf("one call more: %s", got)
	}
	if got, want := one(dearer(three("b"), -1), dearer(many(100, 0, "b"), -1)),
		"cost API calls of a usual ADD 8 -> 7; cost API calls per ADD 8 -> 7"; got != want {
		t.Errorf("one call less: %s", got)
	}

	// Ten scenarios that cost anything from 4 to 20 calls an ADD, by chance: one call
	// more in four hides in each, and not in all of them.
	noisy := func(extra float64) (out []Result) {
		for i := range 10 {
			r := Result{Scenario: fmt.Sprintf("s%d", i), Manager: "manager", Upstream: upstreamThen}
			for seed := range uint64(12) {
				run := ran(seed+1, fmt.Sprintf("%c", 'a'+int(extra)))
				run.Cost = reports.Cost{perADD: {Sum: 100 * (float64(4+(uint64(i)+5*seed)%17) + extra/4), Of: 100}}
				r.Wide = append(r.Wide, run)
			}
			r.Runs = r.Wide[:3]
			out = append(out, r)
		}
		return out
	}
	b := Of(nil, noisy(0), true)
	now := noisy(2)
	if got := short(Compare(b, now, true)); !strings.HasPrefix(got, "RED cost API calls per ADD ") || strings.Count(got, "RED") != 1 {
		t.Errorf("half a call more in ten noisy scenarios: %s", got)
	}
	if got := Compare(b, now, true).Rows[0].Scenario; got != "all of manager" {
		t.Errorf("it is in the row of %q", got)
	}
}

// TestTwoValues: a scenario costs 8 or 16, the one as often as the other. That the
// median is the one before and the other now is chance.
func TestTwoValues(t *testing.T) {
	half := func(dear int, course string) []Run {
		runs := many(30, 0, course)
		for i := range dear {
			runs[i] = dearer(runs[i:i+1], 8)[0]
		}
		return runs
	}
	r := Result{Scenario: "r1", Manager: "manager", Upstream: upstreamThen, Runs: half(0, "a")[:3], Wide: half(14, "a")}
	b := Of(nil, []Result{r}, true)
	r.Runs, r.Wide = half(3, "b")[:3], half(16, "b")
	if got := Compare(b, []Result{r}, true); len(got.Rows[len(got.Rows)-1].Changes) != 0 {
		t.Errorf("%s", short(got))
	}
	r.Wide = half(30, "b")
	if got := short(Compare(b, []Result{r}, true)); !strings.Contains(got, "RED") {
		t.Errorf("always the dearer one now: %q", got)
	}
}

// TestCostOfAFix: if a fork fixes a race, two pods do not share an address any more.
// More addresses are reported, which is no regression; anything else that costs
// more is one.
func TestCostOfAFix(t *testing.T) {
	b := before(three("a", "duplicate-address"), map[string]int{"duplicate-address": 57})
	at := func(addresses float64) reports.Cost {
		return reports.Cost{addressesMost: {Sum: addresses, Of: 1}}
	}
	b.Scenarios[0].Costs[addressesMost.String()] = Cost{Amount: reports.Amount{Sum: 12, Of: 3}, Low: 4, Median: 4, High: 4}
	for want, now := range map[string]Result{
		"cost addresses at most 4 -> 6; fixed-violation duplicate-address 57 of 100 runs -> 0 of 100 runs": {
			Runs: costing(three("b"), at(6)), Wide: costing(many(100, 0, "b"), at(6)),
		},
		"RED changed-violation duplicate-address 57 of 100 runs -> 0 of 100 runs; RED cost API calls of a usual ADD 8 -> 9; RED cost API calls per ADD 8 -> 9; cost addresses at most 4 -> 6": {
			Runs: costing(dearer(three("b"), 1), at(6)), Wide: costing(dearer(many(100, 0, "b"), 1), at(6)),
		},
	} {
		now.Scenario, now.Manager, now.Upstream = "r1", "manager", upstreamFork
		if got := short(Compare(b, []Result{now}, true)); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestFindings: a finding is its own baseline.
func TestFindings(t *testing.T) {
	finding := Result{Scenario: "0a1b2c", Manager: "manager", Upstream: upstreamThen, Record: &Record{Upstream: upstreamThen, Violated: []string{"duplicate-address"}}}
	for _, x := range []struct {
		name, upstream string
		run            Run
		want           string
	}{
		{"as recorded", upstreamThen, ran(1, "a", "duplicate-address"), ""},
		{"on another course, to the same end and further", upstreamFork, ran(1, "b", "duplicate-address", "leaked-claim"), ""},
		{"not to be followed any more", upstreamThen, Run{Seed: 1, Cut: "the schedule does not fit"}, "RED not-reproduced duplicate-address violated -> not violated"},
		{"to the same end by another way", upstreamThen, Run{Seed: 1, Violated: []string{"duplicate-address"}, Cut: "the schedule does not fit"}, "RED not-reproduced duplicate-address violated -> violated, with other messages"},
		{"by a fork on another way", upstreamFork, Run{Seed: 1, Violated: []string{"duplicate-address"}, Cut: "the schedule does not fit"}, ""},
		{"mended by a fork", upstreamFork, ran(1, "b"), "fixed-violation duplicate-address violated -> not violated"},
	} {
		finding.Upstream, finding.Runs = x.upstream, []Run{x.run}
		if got := short(Compare(&Baseline{}, []Result{finding}, true)); got != x.want {
			t.Errorf("%s: %s, want %s", x.name, got, x.want)
		}
	}
	if b := Of(nil, []Result{finding}, true); len(b.Scenarios) != 0 {
		t.Errorf("it got into the baseline: %+v", b.Scenarios)
	}
}

// some are results of any shape.
func some(t *rapid.T) []Result {
	invariants := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"duplicate-address", "leaked-claim", "convergence"}), 0, 3, rapid.ID)
	var out []Result
	for i := range rapid.IntRange(1, 6).Draw(t, "scenarios") {
		r := Result{Scenario: fmt.Sprintf("s%d", i), Manager: rapid.SampledFrom([]string{"calico", "whereabouts"}).Draw(t, "manager"), Upstream: upstreamThen}
		for seed := range uint64(rapid.IntRange(3, 12).Draw(t, "wide")) {
			run := ran(seed+1, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "course"))
			run.Violated = slices.Sorted(slices.Values(invariants.Draw(t, "violated")))
			run.Cost = reports.Cost{
				perADD:  {Sum: float64(rapid.IntRange(0, 1000).Draw(t, "calls")), Of: float64(rapid.IntRange(1, 100).Draw(t, "adds"))},
				timeADD: {Sum: float64(rapid.IntRange(0, 1e10).Draw(t, "time")) / 1e9, Of: 1},
			}
			r.Wide = append(r.Wide, run)
		}
		r.Runs = r.Wide[:3]
		out = append(out, r)
	}
	return out
}

// narrow are the results of a gate that had no doubts.
func narrow(all []Result) []Result {
	out := slices.Clone(all)
	for i := range out {
		out[i].Wide = nil
	}
	return out
}

// TestLaws: what is the same is green and stays so in any order, with many seeds or
// few, through the file and back; an update of it changes nothing.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := some(t)
		b := Of(nil, all, true)
		var text, again bytes.Buffer
		if err := Write(&text, b); err != nil {
			t.Fatal(err)
		}
		back, err := Read(bytes.NewReader(text.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, text.Bytes())
		}
		if n := strings.Count(text.String(), `{"scenario":`); n != len(all) || strings.Count(text.String(), "\n    {\"scenario\":") != n {
			t.Fatalf("not a line each:\n%s", text.Bytes())
		}
		for name, now := range map[string][]Result{"few": narrow(all), "many": all, "reversed": reversed(narrow(all))} {
			if o := Compare(back, now, true); short(o) != "" || o.Moved != 0 {
				t.Fatalf("%s: %s", name, short(o))
			}
		}
		if d := Doubts(back, narrow(all)); len(d) > 0 {
			t.Fatalf("doubts of the same: %v", d)
		}
		if stale := Stale(back, narrow(all), func(*Result) int { return 3 }); len(stale) > 0 {
			t.Fatalf("stale though nothing moved: %v", stale)
		}
		if err := Write(&again, Of(back, narrow(all), true)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text.String(), again.String()); diff != "" && !slices.ContainsFunc(all, func(r Result) bool { return len(r.Wide) != WideOf(1000) }) {
			t.Fatal(diff)
		}
	})
}

// TestOrder: whatever is different, the order in which it was run does not matter.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, now := Of(nil, some(t), true), some(t)
		rows := func(o *Outcome) map[string]string {
			out := map[string]string{}
			for _, r := range o.Rows {
				out[r.Scenario] += short(&Outcome{Rows: []Row{r}})
			}
			return out
		}
		if x, y := rows(Compare(b, now, true)), rows(Compare(b, reversed(now), true)); !maps.Equal(x, y) {
			t.Fatal(cmp.Diff(x, y))
		}
	})
}

func reversed(all []Result) []Result {
	out := slices.Clone(all)
	slices.Reverse(out)
	return out
}

// TestUpdateOfSome: scenarios that were not run stay as they were.
func TestUpdateOfSome(t *testing.T) {
	b := Of(nil, []Result{{Scenario: "a", Manager: "manager", Runs: three("a")}, {Scenario: "b", Manager: "manager", Runs: three("a")}}, true)
	next := Of(b, []Result{{Scenario: "b", Manager: "manager", Runs: three("c")}}, false)
	if len(next.Scenarios) != 2 || next.Scenarios[0].Runs[0].Digest != b.Scenarios[0].Runs[0].Digest || next.Scenarios[1].Runs[0].Digest == b.Scenarios[1].Runs[0].Digest {
		t.Errorf("%+v", next.Scenarios)
	}
}

// TestEveryFamilyHasATolerance: a cost that nothing bounds would be red if it moved by a
// millionth, whatever chance does to it.
func TestEveryFamilyHasATolerance(t *testing.T) {
	all := Tolerances()
	for _, f := range []reports.Family{
		reports.APICalls, reports.UsualAPICalls, reports.Writes, reports.Conflicts, reports.TimeMedian, reports.Time95, reports.TimeLongest,
		reports.Addresses, reports.Blocks, reports.Routes, reports.RefusedADDs, reports.WithoutAddress,
	} {
		if all[f] == (Tolerance{}) {
			t.Errorf("%s has none", f)
		}
		delete(all, f)
	}
	if len(all) > 0 {
		t.Errorf("of what is this: %v", all)
	}
}
