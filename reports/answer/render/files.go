package render

import (
	"io"

	"ipamsim/reports/answer"
	"ipamsim/reports/chart"
)

// File is one file of an answer.
type File struct {
	Name  string // slash-separated, relative to the plan's directory
	Write func(io.Writer) error
}

// Files returns all files of an answer in the order to write them.
func (a *Answer) Files() []File {
	out := []File{{"index.html", func(w io.Writer) error { return a.page(w, true) }}, {"table.md", a.Markdown}, {"table.csv", a.CSV}, {"answer.json", a.JSON}}
	for i := range a.Plots {
		out = append(out, filesOf(&a.Plots[i])...)
	}
	return out
}

// filesOf returns the files of a plot.
func filesOf(p *answer.Plot) []File {
	form := func(ending string, write func(io.Writer, chart.Picture) error) File {
		return File{"plots/" + p.Name + "." + ending, func(w io.Writer) error { return write(w, p.Picture) }}
	}
	return []File{form("svg", chart.SVG), form("png", chart.PNG), form("csv", chart.CSV), form("json", chart.JSON)}
}
