package answer

import "io"

// File is one of the files that tell an answer.
type File struct {
	Name  string // with slashes, below the plan's directory
	Write func(io.Writer) error
}

// Files are all files of an answer, in the order in which to write them.
func (a *Answer) Files() []File {
	out := []File{{"index.html", func(w io.Writer) error { return a.page(w, true) }}, {"table.md", a.Markdown}, {"table.csv", a.CSV}, {"answer.json", a.JSON}}
	for i := range a.Plots {
		out = append(out, a.Plots[i].files()...)
	}
	return out
}
