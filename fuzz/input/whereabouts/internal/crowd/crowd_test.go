package crowd

import (
	"testing"

	"pgregory.net/rapid"
)

// Chosen accepts any bytes, and Bytes is its inverse.
func TestCrowdsAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Chosen(rapid.SliceOfN(rapid.Byte(), 8*19, 8*19).Draw(t, "world"))
		if again := Chosen(c.Bytes()); again != c {
			t.Fatalf("%+v, written down and read %+v", c, again)
		}
	})
}
