package mutants_test

import (
	"strings"
	"testing"

	"ipamsim/fuzz/mutants"
)

// TestMarkdown: a row of scores for each manager, the operators for all managers together, and, of the
// mutants that change no run, only those for which a scenario is missing.
func TestMarkdown(t *testing.T) {
	tally := mutants.Tally{
		Operator: mutants.Constant, Mutants: 9, Unreached: 2, Sampled: 5, Killed: 2, Survived: 1, Same: 2,
	}
	left := func(line int, v mutants.Verdict) mutants.Left {
		m := mutants.Mutant{Operator: mutants.Constant, File: "a.go", Line: line, Column: 1, From: "0", To: "1"}
		return mutants.Left{Mutant: m, Verdict: v, Scenarios: 1, Runs: 3, Moved: 2}
	}
	all := mutants.Section{
		Score: mutants.Score{
			Manager: "m", Upstream: "u", Date: "2026-11-28", Seed: 1, Packages: []string{"p"}, Scenarios: 4, Steps: 15,
			All: tally, Operators: []mutants.Tally{tally},
			Left: []mutants.Left{left(1, mutants.Same), left(2, mutants.Same), left(3, mutants.Survived)},
			Gaps: []mutants.Gap{{File: "a.go", Func: "f", Unreached: 2, Mutants: 9}},
		},
		Reasons: map[string]string{"a.go:1:1 constant 1": "equivalent", "a.go:2:1 constant 1": "a hole: no scenario"},
	}
	text := mutants.Markdown([]mutants.Section{all, all})
	for _, want := range []string{
		"| m | u | 2026-11-28 | 1 | 4 | 9 | 2 | 5 | 2 | 1 | 2 | 0 | 67 % | 9 % to 99 % | 40 % |",
		"- m: p; scenarios of more than 15 steps are left out\n",
		"| constant | 18 | 4 | 10 | 4 | 2 | 4 | 0 | 67 % |",
		"<code>a.go&#58;3</code> |  | constant | <code>0</code> | <code>1</code> | survived | 1 | 2 of 3 |  |",
		"| the same | 1 | 2 of 3 | a hole: no scenario |",
		"| m | <code>f</code> | <code>a.go</code> | 2 | 9 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "equivalent") {
		t.Errorf("the report lists a mutant that is equivalent:\n%s", text)
	}
}
