package mutants

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"ipamsim/reports/baseline"
)

// Tally is the number of mutants by result.
type Tally struct {
	Operator  Operator `json:"operator,omitempty"` // "": all
	Mutants   int      `json:"mutants"`
	Unreached int      `json:"unreached"` // no scenario of the gate executes them
	Sampled   int      `json:"sampled"`   // the reached mutants that were gated
	Killed    int      `json:"killed"`
	Survived  int      `json:"survived"`
	Same      int      `json:"same"`
	Unknown   int      `json:"unknown"`
}

func (t *Tally) add(v Verdict) {
	t.Sampled++
	switch v {
	case Killed:
		t.Killed++
	case Survived:
		t.Survived++
	case Same:
		t.Same++
	default:
		t.Unknown++
	}
}

// Left is a mutant that was not killed.
type Left struct {
	Mutant
	Verdict   Verdict `json:"verdict"`
	Scenarios int     `json:"scenarios"` // that execute it
	Runs      int     `json:"runs"`
	Moved     int     `json:"moved"`
}

// Kill is a killed mutant, and the scenario that killed it.
type Kill struct {
	Mutant   string        `json:"mutant"` // its key
	Scenario string        `json:"scenario"`
	Kind     baseline.Kind `json:"kind"`
	What     string        `json:"what,omitempty"`
}

// Gap is a function with mutants that no scenario executes.
type Gap struct {
	File      string `json:"file"`
	Func      string `json:"func"`
	Unreached int    `json:"unreached"`
	Mutants   int    `json:"mutants"` // all of the function
}

// Score is the score of the gate for a manager's mutants.
type Score struct {
	Manager   string   `json:"manager"`
	Upstream  string   `json:"upstream"` // module@version, or the folder of a fork
	Date      string   `json:"date"`
	Seed      uint64   `json:"seed"` // of the sample
	Packages  []string `json:"packages"`
	Scenarios int      `json:"scenarios"`
	Steps     int      `json:"steps,omitempty"` // scenarios with more steps were left out
	All       Tally    `json:"all"`
	Operators []Tally  `json:"operators"`
	Left      []Left   `json:"left,omitempty"`  // in the order of files and positions
	Kills     []Kill   `json:"kills,omitempty"` // in the same order; the next measurement tries these first
	Gaps      []Gap    `json:"gaps,omitempty"`  // the largest first
}

// Count computes a score. reached are the numbers of the mutants that a scenario executes; results, by
// key, are those of the gated mutants.
func Count(set *Set, reached map[int]bool, results map[string]Result) Score {
	s := Score{}
	by := map[Operator]*Tally{}
	for _, op := range Operators {
		by[op] = &Tally{Operator: op}
	}
	gaps := map[[2]string]*Gap{}
	var order [][2]string
	for i := range set.Mutants {
		m := &set.Mutants[i]
		place := [2]string{m.File, m.Func}
		if gaps[place] == nil {
			gaps[place] = &Gap{File: m.File, Func: m.Func}
			order = append(order, place)
		}
		gaps[place].Mutants++
		for _, t := range []*Tally{&s.All, by[m.Operator]} {
			t.Mutants++
			if !reached[m.ID] {
				t.Unreached++
			} else if r, ok := results[m.Key()]; ok {
				t.add(r.Verdict)
			}
		}
		if !reached[m.ID] {
			gaps[place].Unreached++
		} else if r, ok := results[m.Key()]; ok && r.Verdict != Killed {
			s.Left = append(s.Left, Left{*m, r.Verdict, r.Scenarios, r.Runs, r.Moved})
		} else if ok {
			s.Kills = append(s.Kills, Kill{r.Mutant, r.Scenario, r.Kind, r.What})
		}
	}
	for _, op := range Operators {
		s.Operators = append(s.Operators, *by[op])
	}
	for _, place := range order {
		if gaps[place].Unreached > 0 {
			s.Gaps = append(s.Gaps, *gaps[place])
		}
	}
	slices.SortStableFunc(s.Left, func(a, b Left) int { return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column) })
	slices.SortStableFunc(s.Gaps, func(a, b Gap) int { return b.Unreached - a.Unreached })
	return s
}

// Reasons reads why mutants were not killed, by key, according to a reviewer of the code. The lines of
// the file are
//
//	KEY | REASON
//
// Empty lines and lines that begin with # are ignored. If the file does not exist, there are no reasons.
func Reasons(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for i, line := range strings.Split(string(b), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		// A key may contain "||".
		at := strings.LastIndex(line, " | ")
		if at < 0 {
			return nil, fmt.Errorf("%s:%d: want KEY | REASON", path, i+1)
		}
		out[strings.TrimSpace(line[:at])] = strings.TrimSpace(line[at+3:])
	}
	return out, nil
}
