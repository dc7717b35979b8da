package reports_test

import (
	"fmt"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/golden"
	"ipamsim/reports/storytest"
)

func TestSummary(t *testing.T) {
	var s reports.Summary
	for seed := range uint64(4) {
		r := storytest.Issue162()
		r.Seed, r.Exact, r.Expected = seed, false, []string{"duplicate-address"}
		if seed == 3 {
			r.Verdict, r.Violations = reports.Pass, nil
		}
		if seed == 2 {
			r.Violations = append(r.Violations, model.Violation{Invariant: "stuck"})
		}
		s.Add(r)
	}
	s.Add(&reports.Report{Scenario: "other", Verdict: reports.Unknown, Exact: true})
	if s.Runs != 5 || s.AsExpected != 3 || s.Violations != 4 {
		t.Errorf("counted %+v", s)
	}
	golden.Check(t, "testdata/summary.txt", s.Table())
}

// Scenarios that ran as often as each other are compared; others are not.
func TestSideBySide(t *testing.T) {
	var s reports.Summary
	for seed := range uint64(3) {
		for _, name := range []string{"address-in-status", "pod-exists"} {
			r := storytest.Issue162()
			r.Scenario, r.Seed = name, seed
			if name == "pod-exists" {
				r.Violations = []model.Violation{{Invariant: "leaked-claim"}, {Invariant: "leaked-claim"}}
			} else if seed == 0 {
				r.Verdict, r.Violations = reports.Pass, nil
			}
			s.Add(r)
			if seed == 0 && s.SideBySide() != "" {
				t.Errorf("one run is compared:\n%s", s.SideBySide())
			}
		}
	}
	want := `scenario           runs  duplicate-address  leaked-claim
address-in-status     3                  2             0
pod-exists            3                  0             3
`
	if got := s.SideBySide(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, name := range []string{"address-in-status", "pod-exists"} {
		r := &reports.Report{Scenario: name, Verdict: reports.Fail}
		for i := range 9 {
			r.Violations = append(r.Violations, model.Violation{Invariant: fmt.Sprintf("kind-%d", i)})
		}
		s.Add(r)
	}
	if got := len(strings.Fields(strings.SplitN(s.SideBySide(), "\n", 2)[0])); got != 2+11 {
		t.Errorf("got %d columns, want all 13:\n%s", got, s.SideBySide())
	}
	if s.Add(&reports.Report{Scenario: "other"}); s.SideBySide() != "" {
		t.Errorf("compared with one run of another:\n%s", s.SideBySide())
	}
}

func ExampleLine() {
	fmt.Println(reports.Line(storytest.Issue162()))
	fmt.Println(reports.Line(&reports.Report{Scenario: "quiet", Seed: 2, Strategy: "random", Verdict: reports.Pass}))
	fmt.Println(reports.Line(&reports.Report{Scenario: "slow", Seed: 3, Strategy: "pct", Verdict: reports.Unknown, Reason: "step limit reached"}))
	// Output:
	// FAIL    r1-whereabouts-162 seed 1 timed  duplicate-address 10.128.40.47 default/web-2 default/web-3 at 1m2.068s (step 93)  0.41 s
	// pass    quiet seed 2 random  0.00 s
	// unknown slow seed 3 pct  step limit reached  0.00 s
}
