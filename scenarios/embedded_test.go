package scenarios_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
)

// The library of the program is the folder scenarios, and each scenario has a title.
func TestLibraryIsEmbedded(t *testing.T) {
	for _, folder := range []string{"", scenarios.Families, scenarios.Plans} {
		var embedded, files []string
		for _, s := range scenarios.Managers(managers.All()).Library(folder) {
			embedded = append(embedded, s.Name)
			if s.Title == "" {
				t.Errorf("%s has no title", s.Name)
			}
			if _, ok := scenarios.InLibrary(s.Name); !ok {
				t.Errorf("%s is listed, but InLibrary does not know it", s.Name)
			}
		}
		paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			files = append(files, strings.TrimSuffix(filepath.Base(p), ".yaml"))
		}
		if len(files) == 0 || !slices.Equal(embedded, files) {
			t.Errorf("folder %q: the program has %d scenarios, the folder %d:\n%s\n%s", folder, len(embedded), len(files), embedded, files)
		}
	}
	if names := scenarios.Managers(managers.All()[:1]).Library(""); len(names) == 0 || len(names) > 100 {
		t.Errorf("a program with %s alone lists %d scenarios", managers.All()[0].Name, len(names))
	}
	want, err := os.ReadFile("baseline.json")
	if err != nil || string(scenarios.Baseline()) != string(want) {
		t.Errorf("the program's baseline is not baseline.json: %v", err)
	}
}
