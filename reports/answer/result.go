package answer

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"ipamsim/model/capacity"
	"ipamsim/reports"
	"ipamsim/reports/chart"
)

// Schema of answer.json. It changes when a field changes its meaning or is removed, not when
// one is added.
const Schema = "ipamsim.dev/answer/v2"

// Answer is the result of a plan: answer.json. Rows are numbered from 0, in the order of the
// plan's cells. All texts are clean; they are not escaped.
type Answer struct {
	Schema      string   `json:"schema"`
	Name        string   `json:"name"`
	Title       string   `json:"title,omitempty"`
	Story       string   `json:"story,omitempty"`
	File        string   `json:"file,omitempty"`
	Upstream    string   `json:"upstream,omitempty"`
	HorizonDays Number   `json:"horizonDays"`
	Repeats     int      `json:"repeats"`
	Stopped     bool     `json:"stopped,omitempty"` // some points did not run
	Settings    []string `json:"settings,omitempty"`
	Axes        []Axis   `json:"axes,omitempty"`
	Require     []Bound  `json:"require,omitempty"`
	Minimise    string   `json:"minimise,omitempty"`

	Summary string `json:"summary,omitempty"` // of several recommendations
	// Recommended has one entry for each combination of values of given axes.
	Recommended []Recommendation `json:"recommended"`
	Measures    []Measure        `json:"measures"` // that have a value in some row
	Rows        []Row            `json:"rows"`
	// Beginning holds measures of the running cluster at the start.
	Beginning []Beginning `json:"beginning,omitempty"`
	Agreement *Agreement  `json:"agreement,omitempty"` // of the engines, where both ran
	Plots     []Plot      `json:"plots,omitempty"`
	Unknown   []string    `json:"unknown,omitempty"` // what the import could not determine
	Notes     []string    `json:"notes,omitempty"`   // what the numbers do not mean
	// Repeated counts points that had to run again; the answer is the same.
	Repeated reports.Repeated `json:"repeated"`

	// Question is the plan.
	Question *Question `json:"-"`
}

// Row is one cell of the plan.
type Row struct {
	Name      string   `json:"name"` // its option and values, for display
	Option    string   `json:"option,omitempty"`
	Values    []string `json:"values,omitempty"`
	Cost      string   `json:"cost,omitempty"`
	BlockSize int      `json:"blockSize,omitempty"`
	PoolSize  int      `json:"poolSize,omitempty"`
	Engine    string   `json:"engine,omitempty"`
	Trials    int      `json:"trials"`
	Real      int      `json:"realTrials,omitempty"` // of these, also run by the real code
	Refused   []string `json:"refused,omitempty"`
	// Figures by the name of their measure; a measure without a value has none.
	Figures map[string]Figure `json:"figures"`
	// Bounds in the order of Require, then the bound of unfinished if a migration was.
	Bounds []Verdict `json:"bounds,omitempty"`
	// SinceHours is the time from which trials count, when the option is in place and the
	// cluster has settled. The median; null: never.
	SinceHours Number     `json:"sinceHours,omitempty"`
	Migration  *Migration `json:"migration,omitempty"`

	ByRepeat map[string][]float64 `json:"-"` // by measure, then repeat
}

// Plot is a chart of an answer.
type Plot struct {
	Name    string        `json:"name"` // plots/NAME.svg, .png, .csv and .json
	Title   string        `json:"title"`
	Caption string        `json:"caption"` // what it shows, in a sentence or two
	Picture chart.Picture `json:"-"`
}

// Of computes the answer of a plan, without plots. It does not modify the plan; the caller must
// not either while it uses the answer.
func Of(p *Question) *Answer {
	a := &Answer{
		Schema: Schema, Name: reports.Clean(p.Name), Title: reports.Clean(p.Title), Story: cleanLines(p.Story), File: reports.Clean(p.File),
		Upstream: reports.Clean(p.Upstream), HorizonDays: Number(days(p.Horizon)), Repeats: p.Repeats, Stopped: p.Stopped,
		Settings: cleaned(p.Settings), Minimise: reports.Clean(p.Minimise), Unknown: cleaned(p.Unknown), Repeated: p.Repeated, Question: p,
	}
	for _, b := range p.Require {
		a.Require = append(a.Require, Bound{reports.Clean(b.Measure), b.Most})
	}
	for _, x := range p.Axes {
		a.Axes = append(a.Axes, Axis{reports.Clean(x.Setting), cleaned(x.Values), x.Given})
	}
	all := p.Manager.measures()
	taken := map[string]bool{}
	for i := range p.Cells {
		a.Rows = append(a.Rows, row(p, &p.Cells[i], all, taken))
	}
	for _, m := range all {
		for i := range a.Rows {
			if _, ok := a.Rows[i].Figures[m.Name]; ok {
				a.Measures = append(a.Measures, m)
				break
			}
		}
	}
	for i := range a.Rows {
		for _, b := range a.Require {
			a.Rows[i].Bounds = append(a.Rows[i].Bounds, judge(b, a.Rows[i].Figures))
		}
		if a.Rows[i].Figures["unfinished"].Any > 0 {
			a.Rows[i].Bounds = append(a.Rows[i].Bounds, Verdict{Bound: Bound{Measure: "unfinished"}, Outcome: Breaks})
		}
		a.describe(&a.Rows[i])
	}
	a.Beginning = a.beginning()
	a.Recommended = a.recommend()
	a.Summary = a.summary()
	a.Agreement = a.agree()
	a.Notes = a.notes()
	return a
}

func row(p *Question, c *Trials, all []Measure, taken map[string]bool) Row {
	r := Row{
		Option: reports.Clean(c.Option), Values: valuesOf(p, c), Cost: reports.Clean(c.Cost), BlockSize: c.BlockSize, PoolSize: c.PoolSize,
		Engine: reports.Clean(c.Engine), Trials: done(c.Courses), Real: done(c.Real), Refused: cleaned(c.Refused),
		SinceHours: sinceOf(c), Migration: migrationOf(p, c), Figures: map[string]Figure{}, ByRepeat: map[string][]float64{},
	}
	r.Name = NameOf(p.Axes, &r)
	for n := 2; taken[r.Name]; n++ { // names of lines in a chart are unique
		r.Option = fmt.Sprintf("%s (%d)", reports.Clean(c.Option), n)
		r.Name = NameOf(p.Axes, &r)
	}
	taken[r.Name] = true
	for i := range all {
		m := &all[i]
		v := m.values(c)
		if f, ok := m.figure(v); ok {
			r.Figures[m.Name], r.ByRepeat[m.Name] = f, v
		}
	}
	return r
}

// valuesOf returns the values of a cell, one for each axis.
func valuesOf(p *Question, c *Trials) []string {
	var out []string
	for i := range p.Axes {
		v := ""
		if i < len(c.Values) {
			v = reports.Clean(c.Values[i])
		}
		out = append(out, v)
	}
	return out
}

// NameOf names a row by its option and the value of each axis: "small blocks, nodes 12".
func NameOf(axes []Axis, r *Row) string {
	var parts []string
	if r.Option != "" {
		parts = append(parts, r.Option)
	}
	for i := range min(len(axes), len(r.Values)) {
		parts = append(parts, reports.Clean(axes[i].Setting)+" "+r.Values[i])
	}
	if len(parts) == 0 {
		return "the plan"
	}
	return strings.Join(parts, ", ")
}

func done(courses []*capacity.Course) (n int) {
	for _, l := range courses {
		if l != nil {
			n++
		}
	}
	return n
}

func cleaned(texts []string) []string {
	var out []string
	for _, t := range texts {
		out = append(out, reports.Clean(t))
	}
	return out
}

// cleanLines cleans a text and keeps its line breaks.
func cleanLines(text string) string {
	return strings.Join(cleaned(strings.Split(strings.TrimSpace(text), "\n")), "\n")
}

// JSON writes answer.json.
func (a *Answer) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(a)
}

// Measure returns the measure of this name if a row has a value, or nil.
func (a *Answer) Measure(name string) *Measure {
	for i := range a.Measures {
		if a.Measures[i].Name == name {
			return &a.Measures[i]
		}
	}
	return nil
}
