package render

import (
	_ "embed" // the page's parts
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"ipamsim/reports/answer"
	"ipamsim/reports/answer/words"
	"ipamsim/reports/chart"
	"ipamsim/reports/index"
	"ipamsim/reports/visible"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("answer").Parse(pageText))

// view is the input of the template.
type view struct {
	*Answer
	Policy     string
	Style      template.CSS
	Script     template.JS
	Heading    string
	Story      []string // paragraphs
	Advice     []advice
	MoreAdvice int
	Table      template.HTML
	Figures    []figure
	Facts      []index.Fact
	Remarks    []string
	Ways       []string
	Beside     bool
}

type advice struct {
	Text string
	More []string
	Mark index.Mark
}

type figure struct {
	answer.Plot
	SVG   template.HTML
	Links []index.Link
}

// Page writes the answer as one self-contained HTML file. The same answer gives the same
// bytes.
func (a *Answer) Page(w io.Writer) error { return a.page(w, false) }

// page links to the plots' files if beside is true.
func (a *Answer) page(w io.Writer, beside bool) error {
	style := index.Style() + pageStyle
	v := view{
		Answer: a, Policy: index.Policy(style, index.Script()), Style: template.CSS(style), Script: template.JS(index.Script()),
		Heading: a.heading(), Facts: a.facts(), Remarks: a.refusals(), Ways: a.Ways(func(n int) bool { return !a.Best(n) }), Beside: beside,
	}
	for _, line := range strings.Split(a.Story, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			v.Story = append(v.Story, line)
		}
	}
	for i, r := range a.Recommended {
		if i == adviceMax {
			v.MoreAdvice = len(a.Recommended) - i
			break
		}
		v.Advice = append(v.Advice, advice{r.Sentences[0], r.Sentences[1:], adviceMark[r.Outcome]})
	}
	var err error
	if v.Table, err = a.pageTable().HTML(); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	for i := range a.Plots {
		f := figure{Plot: a.Plots[i]}
		if f.SVG, err = chart.Inline(f.Picture, f.Caption); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
		for _, x := range filesOf(&f.Plot) {
			f.Links = append(f.Links, index.Link{Text: strings.ToUpper(x.Name[strings.LastIndex(x.Name, ".")+1:]), To: x.Name})
		}
		v.Figures = append(v.Figures, f)
	}
	return visible.Page(w, page, v)
}

// adviceMax is the maximum number of recommendations on a page.
const adviceMax = 30

var adviceMark = map[answer.Advice]index.Mark{answer.Take: index.Good, answer.NoneMeets: index.Bad, answer.TooFewRepeats: index.Mild, answer.Unanswered: index.Mild}

func (a *Answer) heading() string {
	if a.Title != "" {
		return a.Title
	}
	return a.Name
}

func (a *Answer) facts() []index.Fact {
	var engines []string
	trials, real := 0, 0
	for i := range a.Rows {
		trials, real = trials+a.Rows[i].Trials, real+a.Rows[i].Real
		if e := a.Rows[i].Engine; e != "" && (len(engines) == 0 || engines[len(engines)-1] != e) {
			engines = append(engines, e)
		}
	}
	out := []index.Fact{
		{Name: "plan", Value: a.Name}, {Name: "horizon", Value: words.Short(float64(a.HorizonDays)) + " days"}, {Name: "repeats", Value: words.Short(float64(a.Repeats))},
		{Name: "trials", Value: words.Short(float64(trials))}, {Name: "engine", Value: words.List(words.Some(engines, words.NamesMax))},
	}
	if real > 0 {
		out = append(out, index.Fact{Name: "also run by the real code", Value: words.Short(float64(real))})
	}
	for _, f := range []index.Fact{{Name: "upstream", Value: a.Upstream}, {Name: "file", Value: a.File}, {Name: "required", Value: a.Asked()}, {Name: "minimised", Value: a.Called(a.Minimise)}} {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	for _, x := range a.Axes {
		out = append(out, index.Fact{Name: x.Setting, Value: words.Cut(strings.Join(x.Values, ", "), 200)})
	}
	for _, s := range a.Settings {
		name, value, _ := strings.Cut(s, ": ")
		out = append(out, index.Fact{Name: name, Value: words.Cut(value, 200)})
	}
	return out
}

// rowsMax is the maximum number of rows on a page; table.csv has all.
const rowsMax = 500

// pageTable returns the table of rows with the measures that differ.
func (a *Answer) pageTable() *index.Table {
	differ, same := a.columns(true)
	t := &index.Table{Name: "rows", Title: "Results", Note: strings.TrimSpace(strings.Join(words.NonEmpty([]string{a.legend(differ), a.Since(), same}), " ") + " More measures are in table.csv.")}
	leads := a.leads()
	for i, c := range leads {
		t.Columns = append(t.Columns, index.Column{Title: words.Cut(c.head, 40), Choice: i > 0 || len(leads) > 1})
	}
	meets := len(a.Require) > 0
	if meets {
		t.Columns = append(t.Columns, index.Column{Title: "meets", Choice: true})
	}
	for _, c := range differ {
		t.Columns = append(t.Columns, index.Column{Title: strings.ReplaceAll(c.head, "\n", " "), Number: true})
	}
	for i, n := range a.winnersFirst() {
		if i == rowsMax {
			t.Left = len(a.Rows) - i
			break
		}
		r := &a.Rows[n]
		var row []index.Cell
		for i, c := range leads {
			name := index.Cell{Text: c.cells[n]}
			if i == 0 {
				name.More = r.Cost
			}
			if i == 0 && a.Best(n) {
				name.Mark, name.More = index.Good, strings.Join(words.NonEmpty([]string{"recommended", r.Cost}), "; ")
			}
			row = append(row, name)
		}
		if meets {
			row = append(row, index.Cell{Text: met(r), Mark: map[answer.Outcome]index.Mark{answer.Meets: index.Good, answer.Breaks: index.Bad, answer.TooFew: index.Mild}[r.Outcome()]})
		}
		for _, c := range differ {
			row = append(row, a.pageCell(c.measure, r))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// winnersFirst returns all rows, recommended ones first.
func (a *Answer) winnersFirst() (rows []int) {
	for _, first := range []bool{true, false} {
		for n := range a.Rows {
			if a.Best(n) == first {
				rows = append(rows, n)
			}
		}
	}
	return rows
}

// pageCell renders a figure with its band; a chance also with its trials.
func (a *Answer) pageCell(m *answer.Measure, r *answer.Row) index.Cell {
	f, ok := r.Figures[m.Name]
	if !ok {
		return index.Cell{Text: "–"}
	}
	c := index.Cell{Text: a.Say(m.Unit, float64(f.Value)), More: a.narrow(m, f)}
	if m.Over == answer.OverChance {
		c.More = fmt.Sprintf("%d of %d: %s", f.Any, f.Trials, c.More)
	}
	if v := float64(f.Value); !math.IsInf(v, 0) {
		c.Order = &v
	} else {
		beyond := float64(a.HorizonDays) * 2
		c.Order = &beyond
	}
	for _, v := range r.Bounds {
		if v.Measure == m.Name {
			c.Mark = map[answer.Outcome]index.Mark{answer.Breaks: index.Bad, answer.TooFew: index.Mild}[v.Outcome]
		}
	}
	return c
}
