package space_test

import (
	"bytes"
	"reflect"
	"testing"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
)

// Every world loads, and the file it is printed as loads to the same world.
func TestCalicoWorldsLoad(t *testing.T) {
	n := uint64(2000)
	if testing.Short() {
		n = 200
	}
	for seed := range n {
		s, err := space.Draw("calico", seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if seed%20 != 0 {
			continue
		}
		printed, err := s.YAML()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		again, err := scenarios.Parse(s.File, printed)
		if err != nil {
			t.Fatalf("seed %d, printed: %v\n%s", seed, err, printed)
		}
		if !reflect.DeepEqual(s.Doc, again.Doc) {
			t.Errorf("seed %d: the printed world's document is another one", seed)
		}
		if twice, _ := again.YAML(); !bytes.Equal(printed, twice) {
			t.Errorf("seed %d: printed twice, two texts", seed)
		}
	}
}
