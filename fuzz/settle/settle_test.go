package settle

import (
	"slices"
	"testing"
)

// A look is settled after so many failures, and a search that has run no more worlds than
// it spent runs makes nothing more small.
func TestLooks(t *testing.T) {
	var l Looks
	if !l.Due(0) || l.Settled() != nil {
		t.Errorf("at the beginning: %v, settled %v", l.Due(0), l.Settled())
	}
	for n := range Instances {
		if slices.Contains(l.Settled(), "b") {
			t.Errorf("settled after %d", n)
		}
		l.Tried([]string{"b"}, 1)
	}
	l.Tried([]string{"a"}, Credit)
	if got := l.Settled(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("settled %v, want b", got)
	}
	if l.Due(Instances) || !l.Due(Instances+1) {
		t.Errorf("after %d runs for %d worlds: %v, for one more: %v", Credit+Instances, Instances, l.Due(Instances), l.Due(Instances+1))
	}
}
