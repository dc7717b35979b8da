package model

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// A state is the hash of a text that equals fmt's output: a new field must be added to the text.
func TestTextOfASituation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Make[situation]().Draw(t, "situation")
		if want := fmt.Sprintf("%+v", x); x.text() != want {
			t.Fatalf("%s, want %s", x.text(), want)
		}
		n := rapid.Make[Node]().Draw(t, "node")
		if want := fmt.Sprintf("%+v", n); n.text() != want {
			t.Fatalf("%s, want %s", n.text(), want)
		}
		a, b, c := rapid.Bool().Draw(t, "a"), rapid.Bool().Draw(t, "b"), rapid.Bool().Draw(t, "c")
		if want := fmt.Sprint("pool ", a, b, c); poolText(a, b, c) != want {
			t.Fatalf("%s, want %s", poolText(a, b, c), want)
		}
	})
}
