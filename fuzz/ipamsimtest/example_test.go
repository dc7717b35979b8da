package ipamsimtest_test

import (
	"testing"

	"ipamsim/fuzz/ipamsimtest"
	"ipamsim/sim/ipam/canary"
)

// Manager is the author's own manager; here it is ipamsim's manager for tests.
var Manager = canary.New

// A test of a manager with one scenario, with its own schedule and three seeds.
func ExampleRun() {
	_ = func(t *testing.T) {
		ipamsimtest.Run(t, Manager(), "testdata/canary.yaml", 1, 2, 3)
	}
}

// Every finding fails the test.
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
