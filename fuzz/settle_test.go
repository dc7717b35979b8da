package fuzz_test

import (
	"slices"
	"testing"

	"ipamsim/fuzz/settle"
)

// A signature is settled after a number of failures. A search shrinks no more failures while it has
// spent more runs on that than it has run worlds.
func TestSettledSignatures(t *testing.T) {
	var l settle.Signatures
	if !l.Due(0) || l.Settled() != nil {
		t.Errorf("at the beginning: %v, settled %v", l.Due(0), l.Settled())
	}
	for n := range settle.Instances {
		if slices.Contains(l.Settled(), "b") {
			t.Errorf("settled after %d", n)
		}
		l.Tried([]string{"b"}, 1)
	}
	l.Tried([]string{"a"}, settle.Credit)
	if got := l.Settled(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("settled %v, want b", got)
	}
	if l.Due(settle.Instances) || !l.Due(settle.Instances+1) {
		t.Errorf("after %d runs for %d worlds: %v, for one more: %v", settle.Credit+settle.Instances, settle.Instances, l.Due(settle.Instances), l.Due(settle.Instances+1))
	}
}
