package scenarios_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/reports/golden"
	"ipamsim/reports/golden/testfiles"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
)

// equal reports whether two scenarios are the same but for where they stood. An
// empty list is as good as none.
func equal(a, b *scenarios.Scenario) bool {
	x, errX := json.Marshal(a.Doc)
	y, errY := json.Marshal(b.Doc)
	return errX == nil && errY == nil && string(x) == string(y) &&
		reflect.DeepEqual(a.Objects, b.Objects) && reflect.DeepEqual(a.Networks, b.Networks)
}

// TestBadInput: every mistake is one line that says where it is and what would be
// right. NAME.yaml has the mistake and NAME.err the line, which is meant to be read. Both
// are members of an archive, one for each subject. binary and not-utf8 stand alone: their
// bytes are no text, and the former does not end in a newline.
func TestBadInput(t *testing.T) {
	const dir = "testdata/bad"
	files, err := testfiles.All(dir, ".yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d bad files, %v", len(files), err)
	}
	for _, f := range files {
		name, lines := f.Name, strings.TrimSuffix(f.Name, ".yaml")+".err"
		t.Run(name, func(t *testing.T) {
			_, err := managers.All().Parse(name, f.Data)
			if err == nil {
				t.Fatal("it loads")
			}
			var e *strict.Error
			if !errors.As(err, &e) || e.File != name || e.Problem == "" {
				t.Errorf("got %T %v, want *Error with file and problem", err, err)
			}
			got := err.Error() + "\n"
			if strings.Count(got, "\n") != 1 || len(got) > 400 {
				t.Errorf("not one line of at most 400 bytes: %q", got)
			}
			if f.Archive == "" {
				golden.Check(t, filepath.Join(dir, lines), got)
			} else {
				golden.CheckMember(t, f.Archive, lines, got)
			}
		})
	}
	if all, err := testfiles.All(dir, ".err"); err != nil || len(all) != len(files) {
		t.Errorf("%d files and %d .err, %v", len(files), len(all), err)
	}
}
