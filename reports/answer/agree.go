package answer

import (
	"fmt"
	"reflect"

	"ipamsim/model/capacity"
	"ipamsim/reports/answer/words"
)

// Agreement compares the reference with the real code in trials that both ran with the same
// workload trace.
type Agreement struct {
	Trials  int    `json:"trials"`           // that both ran
	Samples int    `json:"samples"`          // compared
	Parted  int    `json:"parted,omitempty"` // trials compared only up to a random decision of upstream
	Equal   bool   `json:"equal"`
	Text    string `json:"text"`
	// Differ lists the first difference of each trial that differs, in the order of rows
	// and repeats, at most differMax.
	Differ []Differing `json:"differ,omitempty"`
}

// Differing is the first difference of two trials.
type Differing struct {
	Row       int    `json:"row"`
	Repeat    int    `json:"repeat"` // from 0
	AtDays    Number `json:"atDays"`
	Field     string `json:"field"` // of capacity.Sample; "" if one has fewer samples
	Reference string `json:"reference,omitempty"`
	Real      string `json:"real,omitempty"`
}

const differMax = 20

// agree compares the trials that both engines ran. It returns nil if there are none.
func (a *Answer) agree() *Agreement {
	p, g, differ := a.Question, &Agreement{}, 0
	for n := range p.Cells {
		c := &p.Cells[n]
		for i := range min(len(c.Courses), len(c.Real)) {
			if c.Courses[i] == nil || c.Real[i] == nil {
				continue
			}
			g.Trials++
			certain, real := c.Courses[i].Certain(), c.Real[i].Samples
			if len(certain) < len(c.Courses[i].Samples) { // the real trial may differ from here on
				g.Parted++
				real = real[:min(len(real), len(certain))]
			}
			g.Samples += min(len(certain), len(real))
			if d := differing(certain, real); d != nil {
				if differ++; differ <= differMax {
					d.Row, d.Repeat = n, i
					g.Differ = append(g.Differ, *d)
				}
			}
		}
	}
	if g.Trials == 0 {
		return nil
	}
	if g.Equal = differ == 0; g.Equal {
		g.Text = fmt.Sprintf("The real code also ran %s, %s: all %s are equal.", words.Plural(g.Trials, "trial"), a.beside(), words.Plural(g.Samples, "sample"))
		if g.Parted > 0 {
			g.Text += fmt.Sprintf(" In %d of them only the samples before a random decision of upstream are compared, such as which empty block a node keeps.", g.Parted)
		}
		return g
	}
	d := g.Differ[0]
	name := NameOf(p.Axes, &Row{Option: p.Cells[d.Row].Option, Values: p.Cells[d.Row].Values})
	g.Text = fmt.Sprintf("The engines disagree in %d of %s, so one of them is wrong. First difference: %s, repeat %d, at %s d: %s is %s in the reference and %s in the real code.",
		differ, words.Plural(g.Trials, "trial"), words.Quoted(cleanLines(name)), d.Repeat, words.Short(float64(d.AtDays)), d.Field, d.Reference, d.Real)
	return g
}

// beside counts the real code's trials by row, and names recommended rows without any.
func (a *Answer) beside() string {
	var of, none []string
	alike := true
	for n := range a.Rows {
		r := &a.Rows[n]
		alike = alike && r.Real == a.Rows[0].Real
		if r.Real > 0 {
			of = append(of, fmt.Sprintf("%d of %s", r.Real, words.Quoted(r.Name)))
		} else if a.Best(n) {
			none = append(none, words.Quoted(r.Name))
		}
	}
	switch {
	case alike:
		return fmt.Sprintf("%d of each row", a.Rows[0].Real)
	case len(none) > 0:
		return words.List(words.Some(of, words.NamesMax)) + ", none of the recommended " + words.List(words.Some(none, words.NamesMax))
	}
	return words.List(words.Some(of, words.NamesMax))
}

// differing returns the first sample and field that differ.
func differing(reference, real []capacity.Sample) *Differing {
	for i := range min(len(reference), len(real)) {
		if reference[i] == real[i] {
			continue
		}
		x, y := reflect.ValueOf(reference[i]), reflect.ValueOf(real[i])
		for f := range x.NumField() {
			if vx, vy := x.Field(f).Interface(), y.Field(f).Interface(); vx != vy {
				return &Differing{AtDays: Number(days(reference[i].At)), Field: x.Type().Field(f).Name, Reference: fmt.Sprint(vx), Real: fmt.Sprint(vy)}
			}
		}
	}
	if len(reference) == len(real) {
		return nil
	}
	return &Differing{Field: "number of samples", Reference: fmt.Sprint(len(reference)), Real: fmt.Sprint(len(real))}
}
