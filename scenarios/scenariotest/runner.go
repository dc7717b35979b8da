// Package scenariotest is for tests that run scenarios.
package scenariotest

import (
	"testing"

	"ipamsim/scenarios"
)

// Runner is a runner until the test ends. The process is set up for runs, as main functions do
// it: it is not for a test that does anything beside them.
func Runner(t testing.TB) *scenarios.Runner {
	t.Helper()
	scenarios.Tune()
	return Open(t)
}

// Open is a runner until the test ends, in a process that stays as it is.
func Open(t testing.TB) *scenarios.Runner {
	t.Helper()
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
