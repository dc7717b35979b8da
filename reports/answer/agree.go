package answer

import (
	"fmt"
	"reflect"

	"ipamsim/model/capacity"
	"ipamsim/reports/answer/words"
)

// Agreement of the reference with the real code, where both lived through the same
// tape.
type Agreement struct {
	Trials  int    `json:"lives"`            // that both lived
	Samples int    `json:"samples"`          // compared
	Parted  int    `json:"parted,omitempty"` // lives that are compared up to where chance may part them
	Equal   bool   `json:"equal"`
	Text    string `json:"text"`
	// Differ are the first differences of lives that differ, in the order of rows and
	// repeats, at most differMax.
	Differ []Differing `json:"differ,omitempty"`
}

// Differing is where two lives differ for the first time.
type Differing struct {
	Row       int    `json:"row"`
	Repeat    int    `json:"repeat"` // from 0
	AtDays    Number `json:"atDays"`
	Field     string `json:"field"` // of capacity.Sample; "" if one has fewer samples
	Reference string `json:"reference,omitempty"`
	Real      string `json:"real,omitempty"`
}

const differMax = 20

// agree compares what both engines lived, or is nil if there is nothing to compare.
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
			if len(certain) < len(c.Courses[i].Samples) { // from here on the real life may be another
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
		g.Text = fmt.Sprintf("The real code ran %s, too, %s: all %s are equal.", words.Plural(g.Trials, "trial"), a.beside(), words.Plural(g.Samples, "sample"))
		if g.Parted > 0 {
			g.Text += fmt.Sprintf(" In %d of them those are compared that come before upstream left something to chance, such as which of its empty blocks a node keeps.", g.Parted)
		}
		return g
	}
	d := g.Differ[0]
	name := NameOf(p.Axes, &Row{Option: p.Cells[d.Row].Option, Values: p.Cells[d.Row].Values})
	g.Text = fmt.Sprintf("The engines disagree in %d of %s, so that something is wrong with one of them. The first: %s, repeat %d, at %s d: %s is %s by the reference and %s by the real code.",
		differ, words.Plural(g.Trials, "trial"), words.Quoted(cleanLines(name)), d.Repeat, words.Short(float64(d.AtDays)), d.Field, d.Reference, d.Real)
	return g
}

// beside says of which rows the real code's lives are, and that those recommended
// have none.
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
		return words.List(words.Some(of, words.Told)) + ", none of the recommended " + words.List(words.Some(none, words.Told))
	}
	return words.List(words.Some(of, words.Told))
}

// differing is the first sample and the first field in it that differs.
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
