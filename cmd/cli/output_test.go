package cli

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A file of one run that was interrupted is not there, and nothing else is left.
func TestUnusedFileOfOneRun(t *testing.T) {
	dir := t.TempDir()
	o := outputFlags{record: filepath.Join(dir, "r.json"), html: filepath.Join(dir, "r.html"), json: filepath.Join(dir, "runs.json")}
	out, err := o.open(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.commit(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "runs.json" {
		t.Errorf("left %v, %v; want the lines of no run", entries, err)
	}
}
