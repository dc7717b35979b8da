package mutants

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"ipamsim/reports/baseline"
)

// Tally is how many mutants came to what.
type Tally struct {
	Operator  Operator `json:"operator,omitempty"` // "": of all
	Mutants   int      `json:"mutants"`
	Unreached int      `json:"unreached"` // no scenario of the gate comes to them
	Sampled   int      `json:"sampled"`   // of the others those that were gated
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
	Scenarios int     `json:"scenarios"` // that come to it
	Runs      int     `json:"runs"`
	Moved     int     `json:"moved"`
}

// Kill is a mutant that was killed, and the scenario that did it.
type Kill struct {
	Mutant   string        `json:"mutant"` // its key
	Scenario string        `json:"scenario"`
	Kind     baseline.Kind `json:"kind"`
	What     string        `json:"what,omitempty"`
}

// Gap is a function with mutants that no scenario comes to.
type Gap struct {
	File      string `json:"file"`
	Func      string `json:"func"`
	Unreached int    `json:"unreached"`
	Mutants   int    `json:"mutants"` // that it has
}

// Score is what the gate sees of a manager's mutants.
type Score struct {
	Manager   string   `json:"manager"`
	Upstream  string   `json:"upstream"` // module@version, or the folder of a fork
	Date      string   `json:"date"`
	Seed      uint64   `json:"seed"` // of the sample
	Packages  []string `json:"packages"`
	Scenarios int      `json:"scenarios"`
	Steps     int      `json:"steps,omitempty"` // scenarios with more of them were left out
	All       Tally    `json:"all"`
	Operators []Tally  `json:"operators"`
	Left      []Left   `json:"left,omitempty"`  // in the order of files and places
	Kills     []Kill   `json:"kills,omitempty"` // so, too: what the next measurement tries first
	Gaps      []Gap    `json:"gaps,omitempty"`  // the largest first
}

// Count makes a score: of the mutants that a scenario comes to, whose numbers are
// reached, those in results were gated. results are by keys.
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

// Reasons are why mutants were not killed, by their keys: what somebody who read the code
// wrote into a table, a file whose lines are
//
//	KEY | REASON
//
// Empty lines and those that begin with # say nothing. Without the file there is none.
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
		// A key may hold "||".
		at := strings.LastIndex(line, " | ")
		if at < 0 {
			return nil, fmt.Errorf("%s:%d: want KEY | REASON", path, i+1)
		}
		out[strings.TrimSpace(line[:at])] = strings.TrimSpace(line[at+3:])
	}
	return out, nil
}
