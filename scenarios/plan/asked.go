package plan

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"ipamsim/reports/answer"
	"ipamsim/sim/ipam"
)

// Asked returns the question of the plan for its answer, with a cell for each cell of the plan.
func (p *Plan) Asked() *answer.Question {
	s := p.Doc.Spec
	a := &answer.Question{
		Name: p.Name(), Title: s.Title, Story: s.Story, File: p.File, Upstream: p.Upstream(),
		Horizon: s.Horizon.Duration.Duration, Repeats: s.Repeats, Minimise: s.Want.Minimise,
		Unknown: p.Unknown(), Both: s.Engine == Both, From: s.From,
	}
	a.Manager, _ = ipam.Part[answer.Manager](p.base.Manager())
	a.Minimise = cmp.Or(a.Minimise, a.Manager.Minimise)
	for _, name := range slices.Sorted(maps.Keys(s.Want.Require)) {
		a.Require = append(a.Require, answer.Bound{Measure: name, Most: s.Want.Require[name]})
	}
	given := map[string]bool{}
	for _, x := range Known(p.sheet.Managers()) {
		given[x.Name] = x.Given
		if v, said := s.Settings[x.Name]; said {
			text, err := json.Marshal(v)
			if err == nil {
				a.Settings = append(a.Settings, x.Name+": "+strings.Trim(string(text), `"`))
			}
		}
	}
	for k, x := range s.Axes {
		axis := answer.Axis{Setting: x.Setting, Given: given[x.Setting]}
		for _, c := range p.Cells { // which have them as the file writes them
			if !slices.Contains(axis.Values, c.Values[k]) {
				axis.Values = append(axis.Values, c.Values[k])
			}
		}
		a.Axes = append(a.Axes, axis)
	}
	costs := map[string]string{}
	for _, o := range s.Options {
		costs[o.Name] = o.Cost
	}
	engine := Reference
	if s.Engine == Real {
		engine = Real
	}
	for i := range p.Cells {
		c := &p.Cells[i]
		a.Cells = append(a.Cells, answer.Trials{
			Option: c.Option, Cost: costs[c.Option], Values: c.Values, BlockSize: c.BlockSize, PoolSize: c.PoolSize, Engine: engine, Cluster: &c.Cluster,
		})
	}
	return a
}

// Collect puts what came of a point into its cell.
func (p *Plan) Collect(a *answer.Question, d *Done) {
	c := &a.Cells[d.Cell]
	courses := &c.Courses
	if d.Engine == Real && p.Doc.Spec.Engine == Both {
		courses = &c.Real
	}
	for len(*courses) <= d.Repeat {
		*courses = append(*courses, nil)
	}
	if d.Course != nil {
		share(d.Course.Owners)
	}
	(*courses)[d.Repeat] = d.Course
	if at, known := slices.BinarySearch(c.Refused, d.Refused); d.Refused != "" && !known {
		c.Refused = slices.Insert(c.Refused, at, d.Refused)
	}
}

// share what stays the same: most blocks have the same owner for days.
func share(owners [][]int32) {
	for i := 1; i < len(owners); i++ {
		if slices.Equal(owners[i], owners[i-1]) {
			owners[i] = owners[i-1]
		}
	}
}
