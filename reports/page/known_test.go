package page

import (
	"slices"
	"testing"
)

// Only addresses of the web become links; whatever else is written stays text.
func TestPieces(t *testing.T) {
	got := pieces("[#162](https://example.org/162), see [x](javascript:alert(1)) <b>")
	want := []piece{{"", ""}, {"#162", "https://example.org/162"}, {", see [x](javascript:alert(1)) <b>", ""}}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
