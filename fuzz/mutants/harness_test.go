package mutants_test

import (
	"strings"
	"testing"

	"ipamsim/fuzz/mutants"
)

// TestHarness: the counts of each part, and their rows in the report.
func TestHarness(t *testing.T) {
	set := &mutants.Set{Mutants: []mutants.Mutant{
		{ID: 1, Operator: mutants.Constant, File: "sim/gate.go", Line: 1, From: "1", To: "2"},
		{ID: 2, Operator: mutants.Constant, File: "sim/gate.go", Line: 2, From: "1", To: "2"},
		{ID: 3, Operator: mutants.DropCall, File: "sim/cluster/node.go", Line: 3, Func: "up", From: "f()"},
		{ID: 4, Operator: mutants.DropCall, File: "sim/cluster/node.go", Line: 4, From: "g()"},
		{ID: 5, Operator: mutants.DropCall, File: "sim/cluster/node.go", Line: 5, Func: "down", From: "h()"},
	}}
	key := func(id int) string { return set.Mutants[id-1].Key() }
	trials := map[string]mutants.Trial{}
	for id, r := range map[int]mutants.Trial{
		1: {Verdict: mutants.Killed, Suite: "sim", Late: true},
		3: {Verdict: mutants.Survived, Tests: 7},
		4: {Verdict: mutants.Killed, Suite: "scenarios", Hole: true},
	} {
		r.Mutant = key(id)
		trials[r.Mutant] = r
	}
	parts := []mutants.Part{{Name: "kernel", Folders: []string{"sim"}}, {Name: "cluster", Folders: []string{"sim/cluster"}}}
	h := mutants.CountTrials(set, parts, map[int]bool{1: true, 2: true, 3: true, 4: true}, trials)
	h.Date, h.Seed = "2026-11-27", 1
	text := h.Markdown(map[string]string{key(3): "no test asks"})
	for _, want := range []string{
		"| kernel | sim | 2026-11-27 | 1 | 2 | 0 | 1 | 1 | 1 | 1 | 0 | 0 | 0 | 100 % |",
		"| cluster | sim/cluster | 2026-11-27 | 1 | 3 | 1 | 2 | 1 | 0 | 0 | 1 | 1 | 0 | 50 % |",
		"| all |  | 2026-11-27 | 1 | 5 | 1 | 3 | 2 | 1 | 1 | 1 | 1 | 0 | 67 % |",
		"<code>f()</code> | <code>(left out)</code> | survived | 7 | no test asks |",
		"1 of the killed survived until tests were written for them. Without these the score is 33 % (1 of 3)",
		"<code>down</code>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the section has no %q:\n%s", want, text)
		}
	}
}
