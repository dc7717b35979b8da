package scenarios_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/reports/golden"
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
// right. The .err files are meant to be read.
func TestBadInput(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d bad files, %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = managers.All().Parse(name, data)
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
			golden.Check(t, strings.TrimSuffix(file, ".yaml")+".err", got)
		})
	}
}
