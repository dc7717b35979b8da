package scenarios_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/scenarios"
)

// FuzzParse: whatever the text, Parse returns a scenario that prints back to
// itself, or one line.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/bad/*.yaml", "testdata/good/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := scenarios.Parse("fuzz.yaml", data)
		if err != nil {
			var e *scenarios.Error
			if !errors.As(err, &e) || e.Problem == "" || strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 2000 {
				t.Errorf("not one line: %T %q", err, err)
			}
			return
		}
		text, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := scenarios.Parse("fuzz.yaml", text)
		if err != nil {
			t.Fatalf("printed, it does not load: %v\n%s", err, text)
		}
		if !equal(s, again) {
			t.Errorf("it changes when printed:\n%s", text)
		}
	})
}
