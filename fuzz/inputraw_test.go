package fuzz_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/fuzz/input"
)

// Any bytes are an input, and any input can be written as bytes.
func TestRawInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOf(rapid.Byte()).Draw(t, "raw")
		in := input.FromRaw(raw)
		if left := len(raw) - len(in.World) - len(in.Schedule); left != 4 && left != 0 {
			t.Fatalf("%d of %d bytes are lost", left, len(raw))
		}
		again := input.FromRaw(in.Raw())
		if !bytes.Equal(again.World, in.World) || !bytes.Equal(again.Schedule, in.Schedule) {
			t.Fatalf("%q %q, want %q %q", again.World, again.Schedule, in.World, in.Schedule)
		}
	})
}
