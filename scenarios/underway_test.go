package scenarios_test

import (
	"path/filepath"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
)

// A process is not judged for an operation in progress. Two runs from a search: a calico-node waits for
// the response to a lost request, for as long as clients wait, while its node has no tunnel yet; and its
// deletion of a handle is in progress until the run ends.
func TestNotJudgedWhileUnderWay(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: recorded runs of real code repeat on the hermetic runtime only; run make test")
	}
	r := runner(t)
	for _, name := range []string{"lost-answer", "handle-held"} {
		s, err := managers.All().Load(filepath.Join("testdata", "underway", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		rep := run(t, r, s, scenarios.Options{Recorded: true})
		for i := range rep.Violations {
			t.Errorf("%s: %s", name, rep.Violations[i].Message)
		}
	}
}
