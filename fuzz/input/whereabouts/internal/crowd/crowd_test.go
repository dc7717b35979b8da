package crowd

import (
	"testing"

	"pgregory.net/rapid"
)

// What gofuzz fills is a setting of every kind, and can be written down again.
func TestCrowdsAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Chosen(rapid.SliceOfN(rapid.Byte(), 8*19, 8*19).Draw(t, "world"))
		if again := Chosen(c.Bytes()); again != c {
			t.Fatalf("%+v, written down and read %+v", c, again)
		}
	})
}
