package mutants

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"ipamsim/reports/table"
)

// Part is some of the simulator's own packages: its kernel, say.
type Part struct {
	Name    string   `json:"name"`
	Folders []string `json:"folders"`
}

// Trial is what tests said of a mutant of the simulator itself.
type Trial struct {
	Mutant  string  `json:"mutant"`  // its key
	Sum     string  `json:"sum"`     // of the programs with tests
	Verdict Verdict `json:"verdict"` // killed, survived, or unknown: a test failed that also fails without it
	Suite   string  `json:"suite,omitempty"`
	Test    string  `json:"test,omitempty"` // of the suite, that failed
	Late    bool    `json:"late,omitempty"` // it had no end
	Hole    bool    `json:"hole,omitempty"` // it lived until this test was written
	Tests   int     `json:"tests"`          // that were asked
	Seconds float64 `json:"seconds"`
}

// Line is a trial for people who wait.
func (r *Trial) Line() string {
	late := ""
	if r.Late {
		late = " (no end)"
	}
	return fmt.Sprintf("%s %s %s%s, %d tests, %.1fs: %s", r.Verdict, r.Suite, r.Test, late, r.Tests, r.Seconds, r.Mutant)
}

// Asked is a suite whose tests decided.
type Asked struct {
	Folder  string  `json:"folder"`
	Tests   int     `json:"tests"`
	Seconds float64 `json:"seconds"` // of all of them, on the machine that measured
	Only    string  `json:"only,omitempty"`
	Most    int     `json:"most,omitempty"` // the shortest subtests, so many
}

// PartTally is the score of a part.
type PartTally struct {
	Part
	Tally
	Own  int `json:"own"`  // of the killed those that a test of their own package killed
	Late int `json:"late"` // and those whose tests had no end
	// Holes are those that a test killed which was written because they had lived.
	Holes int `json:"holes"`
}

// Harness is what its tests see of the simulator's own mutants.
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
	Tests   int     `json:"tests"` // that came to it
}

// CountTrials makes the score of the trials there are, which are by keys; reached are the
// numbers of the mutants that a test comes to.
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

// Markdown is a section of the report. reasons are by keys.
func (h *Harness) Markdown(reasons map[string]string) string {
	var b strings.Builder
	a := &h.All
	fmt.Fprintf(&b, "## The harness itself\n\nMeasured %s by `make mutants MANAGER=harness`: mutants of the simulator's own packages, by the same operators. "+
		"What judges is no gate but the tests: first those of the mutant's own package, then the other suites, only the tests that come to the mutant, until one fails. "+
		"A test that has no end is stopped after three times its time and half a minute, and kills, too; where the only one that fails does so without the mutant as well, nothing is judged.\n\n", h.Date)
	suites := table.New("tests of", "how many", "seconds", "")
	for _, s := range h.Suites {
		note := ""
		if s.Only != "" {
			note = "`" + s.Only + "`"
		}
		if s.Most > 0 {
			note += fmt.Sprintf(", the %d shortest", s.Most)
		}
		suites.Add(s.Folder, fmt.Sprint(s.Tests), fmt.Sprint(s.Seconds), note)
	}
	b.WriteString(suites.Markdown() + "\n\n")
	reached := a.Mutants - a.Unreached
	fmt.Fprintf(&b, "%d mutants. %d are unreached: none of these tests comes to them. Of the other %d, %d were tried, drawn at random from each part (seed %d): %d killed, %d survived, %d not judged.\n\n",
		a.Mutants, a.Unreached, reached, a.Sampled, h.Seed, a.Killed, a.Survived, a.Unknown)
	if n := a.Killed + a.Survived; n > 0 {
		b.WriteString(a.bold("a test comes to") + "\n")
		if a.Holes > 0 {
			fmt.Fprintf(&b, "%d of these lived at first, and tests were written for them: before, it was %s (%d of %d), which is the better guess for mutants that nobody drew.\n\n",
				a.Holes, percent(a.Killed-a.Holes, n), a.Killed-a.Holes, n)
		}
	}
	b.WriteString(h.parts().Markdown() + "\n\n" + (&Score{Operators: h.Operators}).operators().Markdown() + "\n")
	h.left(&b, Survived, "Survivors", reasons)
	h.left(&b, Unknown, "Not judged", reasons)
	(&Score{Manager: "the harness", Gaps: h.Gaps, All: a.Tally}).gaps(&b)
	return b.String()
}

// parts is a row for each part.
func (h *Harness) parts() *table.Table {
	t := table.New("part", "packages", "mutants", "unreached", "tried", "killed", "by its package's tests", "by having no end", "by tests written since", "survived", "not judged", "score")
	for i := range t.Columns[2:] {
		t.Columns[i+2].Right = true
	}
	for i := range h.Parts {
		p := &h.Parts[i]
		t.Add(p.Name, strings.Join(p.Folders, ", "), fmt.Sprint(p.Mutants), fmt.Sprint(p.Unreached), fmt.Sprint(p.Sampled), fmt.Sprint(p.Killed),
			fmt.Sprint(p.Own), fmt.Sprint(p.Late), fmt.Sprint(p.Holes), fmt.Sprint(p.Survived), fmt.Sprint(p.Unknown), p.score())
	}
	return t
}

// left lists the mutants of one verdict.
func (h *Harness) left(b *strings.Builder, v Verdict, head string, reasons map[string]string) {
	t := table.New("place", "function", "operator", "from", "to", "tests", "why")
	for i := range h.Left {
		l := &h.Left[i]
		if l.Verdict != v {
			continue
		}
		t.Rows = append(t.Rows, append(l.cells(), table.Cell{Text: fmt.Sprint(l.Tests)}, table.Cell{Text: reasons[l.Key()]}))
	}
	if len(t.Rows) > 0 {
		fmt.Fprintf(b, "\n### The harness itself: %s (%d)\n\n%s\n", head, len(t.Rows), t.Markdown())
	}
}
