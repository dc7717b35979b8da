// Package scenariotest is for tests that run scenarios.
package scenariotest

import (
	"testing"

	"ipamsim/scenarios"
)

// Runner is a runner until the test ends. The process is set up as main functions do it.
func Runner(t testing.TB) *scenarios.Runner {
	t.Helper()
	scenarios.Tune()
	r, err := scenarios.NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
