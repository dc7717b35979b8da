package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/reports/baseline"
	"ipamsim/reports/imported"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
)

// TestFormats loads the files of each release: those that it wrote, and those that users
// wrote for it. A file that no longer loads breaks the promise of VERSIONING.md. A release
// whose formats have new fields adds a folder.
func TestFormats(t *testing.T) {
	m := scenarios.Managers(managers.All())
	scenario := func(file string) error { _, err := m.Load(file); return err }
	page := func(file string) error {
		return (&reportFlags{html: filepath.Join(t.TempDir(), "page.html")}).draw(file)
	}
	loads := map[string]func(file string) error{
		"scenario.yaml": scenario,
		"finding.yaml":  scenario,
		"imported.yaml": scenario,
		"plan.yaml":     func(file string) error { _, err := plan.Load(m, file); return err },
		"baseline.json": func(file string) error {
			b, err := baseline.Load(file)
			if err == nil && len(b.Scenarios) != 2 {
				err = fmt.Errorf("%d scenarios, want 2", len(b.Scenarios))
			}
			return err
		},
		"import.json": func(file string) error {
			f, err := os.Open(file)
			if err != nil {
				return err
			}
			defer f.Close()
			r, err := imported.Read(f)
			if err == nil && len(r.Findings) != 4 {
				err = fmt.Errorf("%d findings, want 4", len(r.Findings))
			}
			return err
		},
		"record.json":   page,
		"findings.json": page,
	}
	releases, err := filepath.Glob("testdata/formats/v*")
	if err != nil || len(releases) == 0 {
		t.Fatalf("%d releases, %v", len(releases), err)
	}
	for _, release := range releases {
		for name, load := range loads {
			if err := load(filepath.Join(release, name)); err != nil {
				t.Errorf("%s: %v", release, err)
			}
		}
	}
}
