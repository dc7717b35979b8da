package answer_test

import (
	"strings"
	"testing"

	"ipamsim/reports/answer"
)

// only are the recommendations' texts, a line each.
func only(p *answer.Question) string {
	var lines []string
	for _, r := range answer.Of(p).Recommended {
		lines = append(lines, string(r.Outcome)+": "+r.Text)
	}
	return strings.Join(lines, "\n")
}

// Every way in which a recommendation can end, in its words.
func TestRecommendation(t *testing.T) {
	few := staging[:3]
	tie := []kind{{name: "now", block: 64, routes: 9}, {name: "a", block: 64, routes: 5}, {name: "b", block: 32, routes: 5}}
	for _, tt := range []struct {
		name string
		plan func() *answer.Question
		want string
	}{
		{"one meets", func() *answer.Question { return plan(few, 100) },
			`recommended: Take "64 pods a node": the only one of 3 options that meets the requirements, exhaustion probability ≤ 5% and blackholed = 0; routes 5.07. Compared with "as it is", better: nodes without a block 0 instead of 2, blackholed 0 instead of 13.1, borrowed 0 instead of 4 and routes 5.07 instead of 9.07. Worse: none of the measures. Noted in the plan, not simulated: a node runs 64 pods at most. Blackholed: 0 in all 100 trials; the probability of more is at most 3.62% (95%). Each option was simulated as a new cluster; the migration of a running cluster was not simulated.`},
		{"it costs something", func() *answer.Question { return plan([]kind{staging[0], staging[4]}, 100) },
			`recommended: Take "blocks of 16": the only one of 2 options that meets the requirements, exhaustion probability ≤ 5% and blackholed = 0; routes 15.1. Compared with "as it is", better: nodes without a block 0 instead of 2, blackholed 0 instead of 13.1 and borrowed 0 instead of 4. Worse: routes 15.1 instead of 9.07. Blackholed: 0 in all 100 trials; the probability of more is at most 3.62% (95%). Each option was simulated as a new cluster; the migration of a running cluster was not simulated.`},
		{"what there is now", func() *answer.Question { return plan([]kind{staging[3], staging[4]}, 100) },
			`recommended: Stay with "blocks of 32": of the 2 of 2 options that meet the requirements, exhaustion probability ≤ 5% and blackholed = 0, it announces the fewest routes, 10.1 (95%: 9.9 to 10.2). Blackholed: 0 in all 100 trials; the probability of more is at most 3.62% (95%).`},
		{"as good", func() *answer.Question { return plan(tie, 100) },
			`recommended: Take "a": of the 3 of 3 options that meet the requirements, exhaustion probability ≤ 5% and blackholed = 0, it announces the fewest routes, 6.07 (95%: 5.9 to 6.24). "b" is not significantly worse. Compared with "now", better: routes 6.07 instead of 10.1. Worse: none of the measures. Blackholed: 0 in all 100 trials; the probability of more is at most 3.62% (95%). Each option was simulated as a new cluster; the migration of a running cluster was not simulated.`},
		{"none", func() *answer.Question { return plan([]kind{staging[0], staging[2], staging[5]}, 100) },
			`none-meets: No option meets the requirements, exhaustion probability ≤ 5% and blackholed = 0. The nearest is "one block a node": exhaustion probability is 60%. The others: "as it is": blackholed is 13.1; "strict affinity": exhaustion probability is 100%.`},
		// 0 of 20 trials: at most 16.8 %, and 72 trials would show 5 % (0.975 = 1 − 0.95^72).
		{"too few", func() *answer.Question { return plan([]kind{staging[1], staging[3]}, 20) },
			`too-few-repeats: Too few repeats: 20 trials of "64 pods a node" cannot show exhaustion probability ≤ 5%. The value is 0% (95%: 0% to 16.8%); about 72 repeats would suffice.`},
		{"too few for one", func() *answer.Question {
			p := plan([]kind{staging[1], {name: "seldom", block: 64, routes: 2, runsOut: 0.03}}, 100)
			return p
		},
			`recommended: Stay with "64 pods a node": the only one of 2 options that meets the requirements, exhaustion probability ≤ 5% and blackholed = 0; routes 5.07. Blackholed: 0 in all 100 trials; the probability of more is at most 3.62% (95%). 100 repeats are too few to decide whether "seldom" meets the requirements; about 470 repeats would suffice.`},
		{"never", func() *answer.Question {
			p := plan(staging[1:2], 100)
			p.Require[0].Most = 0
			return p
		},
			`too-few-repeats: Too few repeats: 100 trials of "64 pods a node" cannot show exhaustion probability = 0. The value is 0% (95%: 0% to 3.62%); no number of trials shows that a chance is 0: require a small one, such as 0.01.`},
		{"nothing required", func() *answer.Question {
			p := plan([]kind{staging[3], staging[1]}, 100)
			p.Require = nil
			return p
		},
			`recommended: Take "64 pods a node": of 2 options it announces the fewest routes, 5.07 (95%: 4.9 to 5.24). Compared with "blocks of 32", better: routes 5.07 instead of 10.1. Worse: none of the measures. Noted in the plan, not simulated: a node runs 64 pods at most. Each option was simulated as a new cluster; the migration of a running cluster was not simulated.`},
		{"refused", func() *answer.Question {
			p := plan(staging[:1], 2)
			p.Cells[0].Courses, p.Cells[0].Refused = nil, []string{"a limit of blocks with IPv6 is not modelled"}
			return p
		},
			`unanswered: There is no answer: a limit of blocks with IPv6 is not modelled.`},
		{"nothing done", func() *answer.Question {
			p := plan(staging[:1], 2)
			clear(p.Cells[0].Courses)
			return p
		}, `unanswered: There is no answer yet: no point is finished.`},
		{"not measured", func() *answer.Question {
			p := plan(staging[:1], 2)
			p.Require = []answer.Bound{{Measure: "addP99", Most: 100}}
			return p
		}, `unanswered: There is no answer: the engine "reference" does not measure ADD p99.`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := only(tt.plan()); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// A given value is no option: a recommendation for each of its values.
func TestRecommendationForWhatIsGiven(t *testing.T) {
	p := plan([]kind{staging[0], staging[3], staging[0], staging[4]}, 100)
	p.Axes = []answer.Axis{{Setting: "crashEvery", Values: []string{"0", "2d"}, Given: true}, {Setting: "blockSize", Values: []string{"26", "28"}}}
	for i := range p.Cells {
		p.Cells[i].Option, p.Cells[i].Values = "", []string{p.Axes[0].Values[i/2], p.Axes[1].Values[i%2]}
	}
	const want = `recommended: With crashEvery 0: Take "blockSize 28": the only one of 2 options that meets the requirements, exhaustion probability ≤ 5% and blackholed = 0; routes 10.1. Compared with "blockSize 26", better: nodes without a block 0 instead of 2, blackholed 0 instead of 13.1 and borrowed 0 instead of 4. Worse: routes 10.1 instead of 9.07. Blackholed: 0 in all 100 trials; the probability of more is at most 3.62% (95%).
recommended: With crashEvery 2d: Take "blockSize 28": the only one of 2 options that meets the requirements, exhaustion probability ≤ 5% and blackholed = 0; routes 15.1. Compared with "blockSize 26", better: nodes without a block 0 instead of 2, blackholed 0 instead of 13.1 and borrowed 0 instead of 4. Worse: routes 15.1 instead of 9.07. Blackholed: 0 in all 100 trials; the probability of more is at most 3.62% (95%).`
	if got := only(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Repeats are compared one by one: what chance explains is no difference, however the
// means lie, and what it does not is one, however wide the bands are.
func TestWhatChanceExplains(t *testing.T) {
	routes := func(of func(repeat int) int) *answer.Question {
		p := plan([]kind{staging[3], staging[3]}, 40)
		for i := range p.Cells {
			p.Cells[i].Option = []string{"now", "other"}[i]
			for r, l := range p.Cells[i].Courses {
				for s := range l.Samples {
					l.Samples[s].Routes = 50 + r*7%40 // wide bands: 50 to 89
					if i == 1 {
						l.Samples[s].Routes += of(r)
					}
				}
			}
		}
		p.Require = nil
		return p
	}
	for _, tt := range []struct {
		name, want string
		of         func(repeat int) int
	}{
		{"up and down", `"now" is not significantly worse.`, func(r int) int { return []int{-5, 4}[r%2] }},
		{"always one less", `Compared with "now", better: routes 68.5 instead of 69.5. Worse: none`, func(r int) int { return -1 }},
	} {
		got := only(routes(tt.of))
		if !strings.Contains(got, tt.want) || strings.Count(got, "Against") != strings.Count(tt.want, "Against") || strings.Count(got, "as well") != strings.Count(tt.want, "as well") {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// One trial in a hundred that has some proves that there is not none.
func TestOneTrialBreaksABoundOfZero(t *testing.T) {
	p := plan([]kind{staging[1]}, 100)
	p.Cells[0].Courses[42].Samples[7].Blackholed = 1
	if v := answer.Of(p).Rows[0].Bounds[1]; v.Outcome != answer.Breaks {
		t.Errorf("%+v, want that it breaks it", v)
	}
}

// Several recommendations are summed up first.
func TestSummary(t *testing.T) {
	given := func(second bool, kinds ...kind) *answer.Question {
		p := plan(kinds, 100)
		p.Axes = []answer.Axis{{Setting: "nodes", Values: []string{"4", "8"}, Given: true}, {Setting: "blockSize", Values: []string{"26", "27"}, Given: second}}
		for i := range p.Cells {
			p.Cells[i].Option, p.Cells[i].Values = "", []string{p.Axes[0].Values[i/2%2], p.Axes[1].Values[i%2]}
		}
		return p
	}
	for _, tt := range []struct {
		want string
		plan *answer.Question
	}{
		{`Whatever nodes is: "blockSize 27" is best. Each option was simulated as a new cluster; the migration of a running cluster was not simulated.`, given(false, staging[0], staging[3], staging[0], staging[4])},
		{`In 1 of 2 cases of nodes an option meets the requirements. Each option was simulated as a new cluster; the migration of a running cluster was not simulated.`, given(false, staging[0], staging[3], staging[0], staging[5])},
		{`In 2 of 4 cases of nodes and blockSize the requirements are met.`, given(true, staging[0], staging[3], staging[0], staging[4])},
		{``, plan(staging, 100)},
	} {
		if got := answer.Of(tt.plan).Summary; got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// An option that would be better but for one bound is named, with what it has instead.
func TestNearMiss(t *testing.T) {
	p := plan([]kind{staging[0], staging[1], staging[3]}, 100)
	p.Require = append(p.Require, answer.Bound{Measure: "unplaced", Most: 0.05})
	for r, l := range p.Cells[1].Courses { // 13 pods for a hundredth of the time; 26 in one of ten trials
		l.Samples[7].Unplaced = 13 + 13*(r%10/9)
	}
	for _, tt := range []struct{ bound, want string }{
		{"unplaced", `Better in routes, but each breaks one bound: "64 pods a node" (5.07; pods unplaced is 0.14 on average, 14.3 at worst).`},
		{"blackholed", `Better in routes, but each breaks one bound: "64 pods a node" (5.07; blackholed is 0.2, in 20 of 100 trials).`},
	} {
		if tt.bound == "blackholed" {
			for r, l := range p.Cells[1].Courses {
				l.Samples[7].Unplaced, l.Samples[7].Blackholed = 0, r%5/4
			}
		}
		if got := only(p); !strings.HasPrefix(got, `recommended: Take "blocks of 32"`) || !strings.Contains(got, tt.want) {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// A plan that begins with an import says so instead of that a new cluster was built.
func TestFromAnImport(t *testing.T) {
	p := plan(staging[:2], 100)
	p.From = "imported.yaml"
	const want = ` Each option starts with the records of "imported.yaml"; the migration to it was not simulated.`
	if got := only(p); !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	p.Cells = p.Cells[1:]
	if got := only(p); strings.Contains(got, "not simulated.") {
		t.Errorf("nothing changes: %s", got)
	}
}

// Options that are as far from what is asked differ by what is to be minimised.
func TestNearestOfThoseAlike(t *testing.T) {
	p := plan([]kind{{name: "many routes", block: 64, routes: 9, runsOut: 1}, {name: "few", block: 64, routes: 3, runsOut: 1}, {name: "some", block: 64, routes: 5, runsOut: 1}}, 100)
	const want = `none-meets: No option meets the requirements, exhaustion probability ≤ 5% and blackholed = 0. The nearest is "few": exhaustion probability is 100%. The others are no better.`
	if got := only(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A measure that is required or minimised must be one, and one that is better if it
// is less.
func TestBounded(t *testing.T) {
	for _, name := range []string{"exhaustion", "blackholed", "routes", "unplacedMax"} {
		if err := answer.Bounded(name, 0); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"utilisation", "blackhold", ""} {
		if err := answer.Bounded(name, 0); err == nil || !strings.Contains(err.Error(), "cannot be bounded; want one of addMedian, ") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
