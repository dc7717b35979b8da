package scenarios_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
)

// TestRunsAreCounted: every run of a process adds a byte to the file of CountEnv. The
// process is this test again.
func TestRunsAreCounted(t *testing.T) {
	const childEnv = "IPAMSIM_TEST_COUNTED"
	if os.Getenv(childEnv) != "" {
		r, s := runner(t), load(t, "ok-exclude.yaml")
		for seed := range uint64(3) {
			run(t, r, s, scenarios.Options{Store: scenarios.Memory, Seed: &seed})
		}
		return
	}
	file := filepath.Join(t.TempDir(), "runs")
	c := exec.Command(os.Args[0], "-test.run=^TestRunsAreCounted$")
	c.Env = append(os.Environ(), scenarios.CountEnv+"="+file, childEnv+"=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil || len(text) != 3 || strings.Trim(string(text), ".w") != "" {
		t.Errorf("%q, want a byte for each of 3 runs: %v", text, err)
	}
	if !hermetic.Enabled && string(text) != "..." {
		t.Errorf("%q: nothing is noticed on the stock runtime", text)
	}
}
