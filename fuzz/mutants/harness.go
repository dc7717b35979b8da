package mutants

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"ipamsim/reports/table"
)

// Part is a group of the simulator's own packages, for example its kernel.
type Part struct {
	Name    string   `json:"name"`
	Folders []string `json:"folders"`
}

// Trial is the result of tests with a mutant of the simulator itself.
type Trial struct {
	Mutant  string  `json:"mutant"`  // its key
	Sum     string  `json:"sum"`     // checksum of the test programs
	Verdict Verdict `json:"verdict"` // killed, survived, or unknown: a test failed that also fails without the mutant
	Suite   string  `json:"suite,omitempty"`
	Test    string  `json:"test,omitempty"` // the test of the suite that failed
	Late    bool    `json:"late,omitempty"` // the test did not end in time
	Hole    bool    `json:"hole,omitempty"` // the mutant survived until this test was written
	Tests   int     `json:"tests"`          // number of tests that ran
	Seconds float64 `json:"seconds"`
}

// Line returns the trial as a line of progress.
func (r *Trial) Line() string {
	late := ""
	if r.Late {
		late = " (no end)"
	}
	return fmt.Sprintf("%s %s %s%s, %d tests, %.1fs: %s", r.Verdict, r.Suite, r.Test, late, r.Tests, r.Seconds, r.Mutant)
}

// Asked is a test suite that can kill mutants.
type Asked struct {
	Folder  string  `json:"folder"`
	Tests   int     `json:"tests"`
	Seconds float64 `json:"seconds"` // duration of all its tests on the measuring machine
	Only    string  `json:"only,omitempty"`
	Most    int     `json:"most,omitempty"` // use only so many subtests, the shortest ones
}

// PartTally is the score of a part.
type PartTally struct {
	Part
	Tally
	Own  int `json:"own"`  // killed by a test of their own package
	Late int `json:"late"` // killed because a test did not end in time
	// Holes are those killed by tests that were written because these mutants had survived.
	Holes int `json:"holes"`
}

// Harness is the score of the simulator's own tests.
type Harness struct {
	Date      string         `json:"date"`
	Seed      uint64         `json:"seed"`
	Suites    []Asked        `json:"suites"`
	Parts     []PartTally    `json:"parts"`
	All       PartTally      `json:"all"`
	Operators []Tally        `json:"operators"`
	Left      []LeftOfTrials `json:"left,omitempty"`
	Gaps      []Gap          `json:"gaps,omitempty"`
}

// LeftOfTrials is a mutant that no test killed.
type LeftOfTrials struct {
	Mutant
	Verdict Verdict `json:"verdict"`
	Tests   int     `json:"tests"` // that execute it
}

// CountTrials computes the score from the trials, which have the mutants' keys; reached are the
// numbers of the mutants that a test executes.
func CountTrials(set *Set, parts []Part, reached map[int]bool, trials map[string]Trial) Harness {
	results := map[string]Result{}
	for key, t := range trials {
		results[key] = Result{Verdict: t.Verdict, Scenarios: t.Tests}
	}
	all := Count(set, reached, results)
	h := Harness{Operators: all.Operators, Gaps: all.Gaps, All: PartTally{Tally: all.All}}
	for i := range all.Left {
		h.Left = append(h.Left, LeftOfTrials{all.Left[i].Mutant, all.Left[i].Verdict, all.Left[i].Scenarios})
	}
	for _, p := range parts {
		some := Set{}
		for i := range set.Mutants {
			if slices.Contains(p.Folders, path.Dir(set.Mutants[i].File)) {
				some.Mutants = append(some.Mutants, set.Mutants[i])
			}
		}
		t := PartTally{Part: p, Tally: Count(&some, reached, results).All}
		for i := range some.Mutants {
			m := &some.Mutants[i]
			if r, ok := trials[m.Key()]; ok && r.Verdict == Killed {
				t.Own += one(r.Suite == path.Dir(m.File))
				t.Late += one(r.Late)
				t.Holes += one(r.Hole)
			}
		}
		h.Parts = append(h.Parts, t)
		h.All.Own, h.All.Late, h.All.Holes = h.All.Own+t.Own, h.All.Late+t.Late, h.All.Holes+t.Holes
	}
	return h
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

const ownMutants = `## The simulator's own mutants

` + "`make mutants MANAGER=harness`" + ` makes mutants of the simulator's own packages by the same operators. Tests judge them:
first those of the mutant's own package, then the other suites; only tests that reach the mutant run, until one fails. A
test is stopped after three times its time and 30 s, and then kills the mutant. A mutant is not judged if the only test
that fails also fails without it.

`

// Markdown returns the report's section on the simulator's own mutants. reasons have the mutants' keys.
func (h *Harness) Markdown(reasons map[string]string) string {
	var b strings.Builder
	a := &h.All
	b.WriteString(ownMutants)
	n := a.Killed + a.Survived
	fmt.Fprintf(&b, "%d of the killed survived until tests were written for them. Without these the score is %s (%d of %d), "+
		"the better\nestimate for mutants that were not drawn.\n\n", a.Holes, percent(a.Killed-a.Holes, n), a.Killed-a.Holes, n)
	b.WriteString(h.parts().Markdown() + "\n\n" + h.suites().Markdown() + "\n\n" + operators(h.Operators).Markdown() + "\n")
	if t := h.left(reasons); len(t.Rows) > 0 {
		fmt.Fprintf(&b, "\n### Not killed by tests\n\n%s\n", t.Markdown())
	}
	t := table.New("function", "file", "unreached", "of its mutants")
	gaps(t, h.Gaps)
	fmt.Fprintf(&b, "\n### Unreached by tests\n\nThe %d functions with the most unreached mutants:\n\n%s\n",
		len(t.Rows), t.Markdown())
	return b.String()
}

// suites has a row for each suite.
func (h *Harness) suites() *table.Table {
	t := table.New("tests of", "tests", "seconds", "which")
	right(t, 1)
	t.Columns[3].Right = false
	for _, s := range h.Suites {
		which := "all"
		if s.Only != "" {
			which = s.Only
		}
		if s.Most > 0 {
			which += fmt.Sprintf(", the %d shortest", s.Most)
		}
		add(t, s.Folder, s.Tests, s.Seconds, which)
	}
	return t
}

// parts has a row for each part, and one for all.
func (h *Harness) parts() *table.Table {
	t := table.New("part", "packages", "measured", "seed", "mutants", "unreached", "tried", "killed", "by its package's tests",
		"by a stopped test", "by tests written since", "survived", "not judged", "score", "95% band")
	right(t, 3)
	for _, p := range slices.Concat(h.Parts, []PartTally{h.All}) {
		add(t, cmp.Or(p.Name, "all"), strings.Join(p.Folders, ", "), h.Date, h.Seed, p.Mutants, p.Unreached, p.Sampled, p.Killed,
			p.Own, p.Late, p.Holes, p.Survived, p.Unknown, p.score(), p.band())
	}
	return t
}

// left has a row for each mutant that no test killed.
func (h *Harness) left(reasons map[string]string) *table.Table {
	t := table.New("place", "function", "operator", "from", "to", "verdict", "tests", "why")
	for i := range h.Left {
		l := &h.Left[i]
		t.Rows = append(t.Rows, append(l.cells(), table.Cell{Text: l.Verdict.text()}, table.Cell{Text: fmt.Sprint(l.Tests)},
			table.Cell{Text: reasons[l.Key()]}))
	}
	return t
}
