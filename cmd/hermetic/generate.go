package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// simSource is the file that is added to package runtime.
//
//go:embed runtime/sim.go.txt
var simSource string

const simPath = "runtime/sim.go"

// generate applies all edits to copies of the files under src and returns the
// new text of each, by path relative to src, together with the added file.
//
// Every edit is tried. If any does not fit, the error joins one message for
// each: version, file, edit and the text that was looked for.
func generate(src, version string, all []edit) (map[string]string, error) {
	text := map[string]string{}
	var misfits []error
	for _, e := range all {
		if _, ok := text[e.file]; !ok {
			b, err := os.ReadFile(filepath.Join(src, e.file))
			if err != nil {
				misfits = append(misfits, fmt.Errorf("%s: edit %q: %w", version, e.why, err))
				continue
			}
			text[e.file] = string(b)
		}
		n := strings.Count(text[e.file], e.old)
		if n != 1 {
			misfits = append(misfits, fmt.Errorf("%s: src/%s: edit %q: text found %d times, want 1:\n%s", version, e.file, e.why, n, indent(e.old)))
			continue
		}
		text[e.file] = strings.Replace(text[e.file], e.old, e.new, 1)
	}
	if len(misfits) > 0 {
		misfits = append(misfits, fmt.Errorf("%d of %d edits do not fit %s: see what changed there, then move the anchors", len(misfits), len(all), version))
		return nil, errors.Join(misfits...)
	}
	text[simPath] = simSource
	return text, nil
}

func indent(s string) string {
	return "\t| " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n\t| ")
}
