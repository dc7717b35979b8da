package answer_test

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"ipamsim/reports/answer"
	"ipamsim/reports/golden"
)

// What a plan came to, in every form that is text: the story of Wikimedia's staging
// cluster.
func TestForms(t *testing.T) {
	a := answer.Of(plan(staging, 100))
	for file, write := range map[string]func(io.Writer) error{
		"staging.txt": a.Text, "staging.md": a.Markdown, "staging.csv": a.CSV, "staging.json": a.JSON,
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, filepath.Join("testdata", file), b.String())
	}
}
