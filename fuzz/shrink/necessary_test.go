package shrink

import "testing"

// What a small world may not be without, by what it shows.
func TestIsWhole(t *testing.T) {
	tests := []struct {
		invariant string
		at        path
		want      bool
	}{
		{"leaked-claim", path{"spec", "reconcilers"}, true},
		{"leaked-claim", path{"spec", "reconcilers", 0}, true},
		{"leaked-claim", path{"spec", "reconcilers", 0, "overlap"}, false},
		{"convergence", path{"spec", "daemons", 1}, true},
		{"starved-node", path{"spec", "daemons"}, true},
		{"duplicate-address", path{"spec", "reconcilers", 0}, false},
		{"blackholed-address", path{"spec", "daemons", 0}, true},
		{"blackholed-address", path{"spec", "vxlanMode"}, true},
		{"blackholed-address", path{"spec", "reconcilers", 0}, false},
		{"convergence", path{"spec", "timeline", 0}, false},
		{"leaked-claim", path{"spec", "timers", "toleration"}, true},
		{"duplicate-address", path{"spec", "timers"}, false},
		{"duplicate-address", path{"spec", "judge", "blackholeAfter"}, true},
	}
	for _, tt := range tests {
		if got := isWhole(tt.invariant, tt.at); got != tt.want {
			t.Errorf("%s, %v: %v, want %v", tt.invariant, tt.at, got, tt.want)
		}
	}
}

// What breaks, too, in a world made small for something else counts only if nothing
// was taken away that it needs.
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
		if got := whole(tt.name, tt.other); got != tt.want {
			t.Errorf("%s, in a world for %s: %v, want %v", tt.other, tt.name, got, tt.want)
		}
	}
}
