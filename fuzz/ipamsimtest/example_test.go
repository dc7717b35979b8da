package ipamsimtest_test

import (
	"testing"

	"ipamsim/fuzz/ipamsimtest"
	"ipamsim/sim/ipam/canary"
)

// Manager is an author's own; here it is the one that comes with ipamsim for tests.
var Manager = canary.New

// A test of one's own manager: one scenario, under its own schedule and some more.
func ExampleRun() {
	_ = func(t *testing.T) {
		ipamsimtest.Run(t, Manager(), "testdata/canary.yaml", 1, 2, 3)
	}
}

// Whatever is found fails the test.
func ExampleExplore() {
	_ = func(t *testing.T) {
		for _, f := range ipamsimtest.Explore(t, Manager(), "testdata/canary.yaml", ipamsimtest.Search{Runs: 50}) {
			t.Error(f)
		}
	}
}

func ExampleFuzz() {
	_ = func(f *testing.F) { ipamsimtest.Fuzz(f, Manager(), "testdata/canary.yaml") }
}

func ExampleConform() {
	_ = func(t *testing.T) { ipamsimtest.Conform(t, Manager(), "testdata/canary.yaml") }
}
