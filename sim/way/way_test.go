package way_test

import (
	"testing"

	"ipamsim/sim"
	"ipamsim/sim/way"
)

// Every way has a name, and its number fits into a set.
func TestNames(t *testing.T) {
	var all sim.Ways
	for _, name := range way.Names() {
		w, err := way.Parse(name)
		if err != nil || w.String() != name {
			t.Errorf("%s: %v, %v", name, w, err)
		}
		all |= way.Of(w)
	}
	if all.Len() != len(way.Names()) || all.First() != 0 || !all.Has(int(way.DiskFull)) {
		t.Errorf("the set of all is %b", all)
	}
	if _, err := way.Parse("leader-changed"); err == nil {
		t.Error("a way without a name is parsed")
	}
}
