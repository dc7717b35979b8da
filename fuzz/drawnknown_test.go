package fuzz_test

import (
	"flag"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
)

var drawn = flag.Uint64("drawn", 25, "so many of the worlds that a gate's search draws, for each target")

// The failures that a search finds in the releases are known. Otherwise the gate of a correct fork
// would be red. With -learn new ones are added to the lists; -drawn 2000 is more than a gate runs.
func TestDrawnWorldsAreKnown(t *testing.T) {
	longtest.Skip(t)
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range input.Targets(managers.All()) {
		k, err := known.Load(knownDir, input.Lists(managers.All(), target)...)
		if err != nil {
			t.Fatal(err)
		}
		for seed := uint64(1); seed <= *drawn; seed++ {
			for _, in := range []input.Input{{World: input.Choices(seed)}, {World: input.Choices(seed), Schedule: input.Choices(^seed)[:64]}} {
				j := judge{t.Context(), r, target, in, k}
				if err := j.judge(); err != nil {
					t.Errorf("%s, world %d: %v", target, seed, err)
				}
				k = j.known
			}
		}
	}
}
