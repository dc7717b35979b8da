package space_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
	"ipamsim/sim/longtest"
)

// Every generated world (the first 200, or 5,000) loads, and its printed form loads to an equal one.
func TestEverySeedIsAFile(t *testing.T) {
	for _, name := range []string{"host-local", "mixed", "nodeipam", "whereabouts"} {
		t.Run(name, func(t *testing.T) {
			seeds := uint64(200)
			if longtest.On() {
				seeds = 5000
			}
			for seed := range seeds {
				s, err := space.Draw(managers.All(), name, seed)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				text, err := s.YAML()
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if seed%10 != 0 { // parsing YAML is slow
					continue
				}
				again, err := managers.All().Parse("again.yaml", text)
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, text)
				}
				if a, b := shape(t, s), shape(t, again); !bytes.Equal(a, b) {
					t.Fatalf("seed %d changes when it is printed:\n%s\n%s", seed, a, b)
				}
			}
		})
	}
}

// shape returns all parts of a loaded world.
func shape(t *testing.T, s *scenarios.Scenario) []byte {
	b, err := json.Marshal([]any{s.Doc, s.Objects, s.Networks, s.Primary})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
