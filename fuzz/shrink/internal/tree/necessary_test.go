package tree

import "testing"

// The parts that must stay, by invariant.
func TestIsWhole(t *testing.T) {
	tests := []struct {
		invariant string
		at        Path
		want      bool
	}{
		{"leaked-claim", Path{"spec", "reconcilers"}, true},
		{"leaked-claim", Path{"spec", "reconcilers", 0}, true},
		{"leaked-claim", Path{"spec", "reconcilers", 0, "overlap"}, false},
		{"convergence", Path{"spec", "daemons", 1}, true},
		{"starved-node", Path{"spec", "daemons"}, true},
		{"duplicate-address", Path{"spec", "reconcilers", 0}, false},
		{"blackholed-address", Path{"spec", "daemons", 0}, true},
		{"blackholed-address", Path{"spec", "vxlanMode"}, true},
		{"blackholed-address", Path{"spec", "reconcilers", 0}, false},
		{"convergence", Path{"spec", "timeline", 0}, false},
		{"leaked-claim", Path{"spec", "timers", "toleration"}, true},
		{"duplicate-address", Path{"spec", "timers"}, false},
		{"duplicate-address", Path{"spec", "judge", "blackholeAfter"}, true},
	}
	for _, tt := range tests {
		if got := IsWhole(tt.invariant, tt.at); got != tt.want {
			t.Errorf("%s, %v: %v, want %v", tt.invariant, tt.at, got, tt.want)
		}
	}
}

// Another violation in a scenario that was shrunk for one invariant counts only if no part was removed
// that the other invariant needs.
func TestWhole(t *testing.T) {
	for _, tt := range []struct {
		name, other string
		want        bool
	}{
		{"unbacked-sandbox", "duplicate-address", true},
		{"unbacked-sandbox", "overlap-reservation", true},
		{"unbacked-sandbox", "convergence", false},
		{"unbacked-sandbox", "blackholed-address", false},
		{"leaked-claim", "convergence", true},
		{"leaked-affinity", "blackholed-address", false},
		{"blackholed-address", "unbacked-sandbox", true},
	} {
		if got := Whole(tt.name, tt.other); got != tt.want {
			t.Errorf("%s, in a world for %s: %v, want %v", tt.other, tt.name, got, tt.want)
		}
	}
}
