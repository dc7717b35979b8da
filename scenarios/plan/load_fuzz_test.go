package plan_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/cmd/managers"
	"ipamsim/reports/golden/testfiles"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/strict"
	"ipamsim/scenarios/strict/stricttest"
)

// FuzzPlanFile: any bytes are a plan, or one clear line says why not. What is a
// plan can be packed, and is the same plan then.
func FuzzPlanFile(f *testing.F) {
	for _, dir := range []string{"testdata/good", "testdata/bad"} {
		files, err := testfiles.All(dir, ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if problem := parses(data); problem != "" {
			t.Error(problem)
		}
	})
}

// parses says what is wrong with how a text was loaded, or "".
func parses(data []byte) string {
	nothing := func(string) ([]byte, error) { return nil, os.ErrNotExist }
	p, err := plan.Parse(managers.All(), "x.yaml", data, nothing)
	if err != nil {
		var e *strict.Error
		if !errors.As(err, &e) || e.Problem == "" || strings.ContainsAny(err.Error(), "\n\r") {
			return "not one clear line: " + err.Error()
		}
		return ""
	}
	text, err := p.Pack()
	if err != nil {
		return "does not pack: " + err.Error()
	}
	q, err := plan.Parse(managers.All(), "x.yaml", text, nothing)
	switch {
	case err != nil:
		return "does not load again: " + err.Error()
	case len(q.Cells) != len(p.Cells) || q.Doc.Spec.Repeats != p.Doc.Spec.Repeats || q.Doc.Spec.Engine != p.Doc.Spec.Engine:
		return "another plan when packed"
	}
	return ""
}

// TestParseAnyStructure: text that is YAML, and nearly a plan.
func TestParseAnyStructure(t *testing.T) {
	words := []string{"", "a", "yes", "010", "-1", "1e9", ".nan", "5m", "30d", "99999999d", "null", "{}", "[]", "*", "10.0.0.0/24", "10.0.0.0/0", "fd00::/64", "blockSize", "podsPerNode", "both", "calico", "whereabouts", "Plan", "Scenario", "%s", "<script>", strings.Repeat("x", 300)}
	loaded := 0
	rapid.Check(t, func(rt *rapid.T) {
		text, ok := stricttest.Mangled(rt, filepath.Join("testdata", "good", rapid.SampledFrom(goods(t)).Draw(rt, "file")+".yaml"), words)
		if !ok {
			return
		}
		if _, err := plan.Parse(managers.All(), "x.yaml", text, func(string) ([]byte, error) { return nil, os.ErrNotExist }); err == nil {
			loaded++
		}
		if problem := parses(text); problem != "" {
			rt.Errorf("%s\n%s", problem, text)
		}
	})
	if loaded == 0 {
		t.Error("none was a plan")
	}
}
