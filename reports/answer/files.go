package answer

import "io"

// File is one of the files that tell an answer.
type File struct {
	Name  string // with slashes, below the plan's directory
	Write func(io.Writer) error
}

// Files are all files of an answer, in the order in which to write them.
func (a *Answer) Files() []File {
	return []File{{"table.md", a.Markdown}, {"table.csv", a.CSV}, {"answer.json", a.JSON}}
}
