package answer

import (
	"fmt"
	"strings"

	"ipamsim/model/capacity"
	"ipamsim/reports/answer/words"
	"ipamsim/reports/trackrecord"
)

// Race is a known failure of the address manager that an option adds or makes more likely. No
// trial of a plan shows it: it needs two concurrent processes.
type Race struct {
	Change   Change `json:"change"`
	What     string `json:"what"`
	Upstream string `json:"upstream"` // the version in which it is known
	Command  string `json:"command"`  // reproduces it

	words string // of the change
}

// Change is a difference between clusters that enables races.
type Change string

// The changes with known races.
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

// Known defines when an option makes a change, and which failures are known to follow. Made
// compares the clusters after their migrations.
type Known struct {
	Change Change
	Words  string // "lets … collect garbage"
	Made   func(now, then *capacity.Cluster) bool
	Rows   []Follows
}

// Follows is a row of the track record, by the name of its scenario. Of reports whether the
// failure is possible in a cluster; nil: in all. TestRacesAreBrought of cmd/ipamsim runs each
// scenario with and without the change.
type Follows struct {
	Scenario string
	Of       func(then *capacity.Cluster) bool
}

// Races lists the races that a cluster has and another one does not, in the order of the
// changes.
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

// ended returns a cluster after its migration.
func ended(c *capacity.Cluster) *capacity.Cluster {
	if c.Becomes == nil {
		return c
	}
	out := *c
	out.Manager, out.Networks = c.Becomes.Manager, c.Becomes.Networks
	return &out
}

// plain returns a cell of the track record without Markdown and without its final period, for
// use within a sentence.
func plain(s string) string { return strings.TrimSuffix(strings.ReplaceAll(s, "`", ""), ".") }

// races lists the races that row to adds compared with row from. TestRaces reads the whole
// track record, so an error is impossible here.
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

// brings names the known races that the choice adds compared with the present state.
func (a *Answer) brings(r *Recommendation) string {
	var parts []string
	for i := 0; i < len(r.Races); {
		first, of := r.Races[i], []string(nil)
		for ; i < len(r.Races) && r.Races[i].Change == first.Change; i++ {
			of = append(of, fmt.Sprintf("%s (%s)", r.Races[i].What, r.Races[i].Command))
		}
		parts = append(parts, fmt.Sprintf("It %s. Known failures of %s in this case, which no trial shows: %s.", first.words, first.Upstream, strings.Join(words.Some(of, words.NamesMax), "; ")))
	}
	return strings.Join(parts, " ")
}

// Oftener reports whether passes are more frequent in then, or happen only there.
func Oftener(now, then *capacity.Cluster) bool {
	a, b := now.Collect.Every, then.Collect.Every
	return b > 0 && (a == 0 || b < a)
}
