package answer

import (
	"fmt"
	"strings"

	"ipamsim/model/capacity"
	"ipamsim/reports/answer/words"
	"ipamsim/reports/trackrecord"
)

// Race is a known failure of the address manager that an option brings, or makes more
// likely, and that no life of a plan shows: it takes two processes at once.
type Race struct {
	Change   Change `json:"change"`
	What     string `json:"what"`
	Upstream string `json:"upstream"` // the version of which it is known
	Command  string `json:"command"`  // shows it

	words string // of the change
}

// Change is what an option does that races follow from.
type Change string

// The changes of which something is known.
const (
	CollectorOn   Change = "collector-on"
	PassesOftener Change = "passes-oftener"
	ReleaseSooner Change = "release-sooner"
	StrictOff     Change = "strict-off"
	BlocksLimited Change = "blocks-limited"
	OnEtcd        Change = "on-etcd"
	PoolsChange   Change = "pools-change"
	SlicesOn      Change = "slices-on"
	OverlapOn     Change = "overlap-on"
)

// Known says when an option makes a change, and which failures are known to follow. Both
// clusters are as their migrations leave them.
type Known struct {
	Change Change
	Words  string // "lets … collect garbage"
	Made   func(now, then *capacity.Cluster) bool
	Rows   []Follows
}

// Follows is a row of the track record, by the name of its scenario, and of which clusters
// it can be true; nil: of all. That a change brings its rows is tested by running each
// scenario with and without it: TestRacesAreBrought of cmd/ipamsim.
type Follows struct {
	Scenario string
	Of       func(then *capacity.Cluster) bool
}

// Races are those that a cluster brings in the place of another one, in the order of
// the changes.
//
// It returns an error if the track record cannot be read.
func (m *Manager) Races(now, then *capacity.Cluster) (out []Race, err error) {
	if now == nil || then == nil {
		return nil, nil
	}
	now, then = ended(now), ended(then)
	record, err := trackrecord.ByScenario()
	if err != nil {
		return nil, err
	}
	for _, c := range m.Changes {
		if !c.Made(now, then) {
			continue
		}
		for _, k := range c.Rows {
			if k.Of != nil && !k.Of(then) {
				continue
			}
			row, ok := record[k.Scenario]
			if !ok {
				return nil, fmt.Errorf("races: the track record has no row of %s", k.Scenario)
			}
			out = append(out, Race{c.Change, plain(row.What), row.Upstream, row.Command(), c.Words})
		}
	}
	return out, nil
}

// ended is a cluster as its migration leaves it.
func ended(c *capacity.Cluster) *capacity.Cluster {
	if c.Becomes == nil {
		return c
	}
	out := *c
	out.Manager, out.Networks = c.Becomes.Manager, c.Becomes.Networks
	return &out
}

// plain is a cell of the track record without Markdown's marks and without its last
// period: it stands within a sentence.
func plain(s string) string { return strings.TrimSuffix(strings.ReplaceAll(s, "`", ""), ".") }

// races of row to in the place of row from. TestRaces reads the whole track record, so
// that nothing can be missing.
func (a *Answer) races(from, to int) []Race {
	if from == to {
		return nil
	}
	all, err := a.Question.Manager.Races(a.Question.Cells[from].Cluster, a.Question.Cells[to].Cluster)
	if err != nil {
		return nil
	}
	return all
}

// brings says which known races the choice brings, against what there is now.
func (a *Answer) brings(r *Recommendation) string {
	var parts []string
	for i := 0; i < len(r.Races); {
		first, of := r.Races[i], []string(nil)
		for ; i < len(r.Races) && r.Races[i].Change == first.Change; i++ {
			of = append(of, fmt.Sprintf("%s (%s)", r.Races[i].What, r.Races[i].Command))
		}
		parts = append(parts, fmt.Sprintf("It %s, and no trial here shows what %s is known to do then: %s.", first.words, first.Upstream, strings.Join(words.Some(of, words.Told), "; ")))
	}
	return strings.Join(parts, " ")
}

// Oftener reports whether passes come at shorter intervals, or come at all.
func Oftener(now, then *capacity.Cluster) bool {
	a, b := now.Collect.Every, then.Collect.Every
	return b > 0 && (a == 0 || b < a)
}
