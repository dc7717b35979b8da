package fuzz_test

import (
	"testing"

	"pgregory.net/rapid"

	"ipamsim/fuzz/input/whereabouts"
	"ipamsim/scenarios"
	manager "ipamsim/sim/ipam/whereabouts"
)

// Any bytes from which gofuzz fills a crowd are a world that loads.
func TestCrowdsLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		world := rapid.SliceOfN(rapid.Byte(), 8*19, 8*19).Draw(t, "world")
		if _, err := whereabouts.Reconcilers.Draw(scenarios.Managers{manager.New()}, world); err != nil {
			t.Fatal(err)
		}
	})
}
