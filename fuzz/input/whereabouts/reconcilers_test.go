package whereabouts

import (
	"testing"

	"pgregory.net/rapid"

	"ipamsim/scenarios"
	"ipamsim/sim/ipam/whereabouts"
)

// What gofuzz fills is a setting of every kind, and can be written down again.
func TestCrowdsAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		world := rapid.SliceOfN(rapid.Byte(), 8*19, 8*19).Draw(t, "world")
		c := chosen(world)
		if again := chosen(c.bytes()); again != c {
			t.Fatalf("%+v, written down and read %+v", c, again)
		}
		if _, err := reconciled(scenarios.Managers{whereabouts.New()}, world); err != nil {
			t.Fatal(err)
		}
	})
}
