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
	for n := range instances {
		if slices.Contains(l.Settled(), "b") {
			t.Errorf("settled after %d", n)
		}
		l.Tried([]string{"b"}, 1)
	}
	l.Tried([]string{"a"}, credit)
	if got := l.Settled(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("settled %v, want b", got)
	}
	if l.Due(instances) || !l.Due(instances+1) {
		t.Errorf("after %d runs for %d worlds: %v, for one more: %v", credit+instances, instances, l.Due(instances), l.Due(instances+1))
	}
}
