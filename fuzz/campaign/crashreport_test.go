package campaign

import (
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/campaign/worker"
	"ipamsim/fuzz/process"
)

// TestCrashFinding: the finding of a death is a scenario to run, with the panic in its comment. The
// same panic in another scenario has the same fingerprint.
func TestCrashFinding(t *testing.T) {
	spec := flakySpec("")
	sc, err := spec.World(managers.All(), 0, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	var prints []string
	for _, n := range []string{"7", "12"} {
		shape := []string{"panic: index out of range [#]", "github.com/a/b.claim"}
		d, how := &queue.Death{Seed: 7, Cause: "panic: index out of range [" + n + "]"}, &process.Death{Invariant: "actor-crash", Shape: shape, Text: "panic: index out of range [" + n + "]\n\ngithub.com/a/b.claim(0x1)\n"}
		f, err := worker.CrashFinding(d, how, spec, sc)
		if err != nil {
			t.Fatal(err)
		}
		prints = append(prints, f.Fingerprint)
		back, err := managers.All().Parse("finding.yaml", f.YAML)
		if err != nil {
			t.Fatal(err)
		}
		if s := back.Doc.Spec; *s.Seed != 7 || !slices.Equal(s.Expect.Violations, []string{"actor-crash"}) || s.Strategy != "random" {
			t.Errorf("%s", f.YAML)
		}
		if !f.Died {
			t.Error("the finding does not say that the process died: its file would be replayed, not run")
		}
		if !strings.Contains(string(f.YAML), "# github.com/a/b.claim(0x1)") {
			t.Errorf("no traceback:\n%s", f.YAML)
		}
	}
	if prints[0] != prints[1] {
		t.Errorf("one panic, two fingerprints: %v", prints)
	}
}
