package tree

import (
	"slices"

	"ipamsim/model/invariant"
)

// Some parts of a cluster must stay, because without them the failure would be expected: claims leak if
// there is no collector, and packets are lost if the pool has no tunnels and calico-node assigns no
// address to the tunnel device. Time limits are those for the timers of the original scenario. A
// small scenario without these parts would show the same violation, but no mistake.
var (
	// collectors release leaked addresses after some time.
	collectors = []string{"daemons", "reconcilers", "timers"}
	// carriers deliver packets.
	carriers = []string{"daemons", "fabric", "ipipMode", "vxlanMode", "disableBGPExport"}
)

// IsWhole reports whether a value of a document must stay for this invariant.
func IsWhole(name string, p Path) bool {
	if len(p) < 2 || len(p) > 3 || p[0] != "spec" {
		return false
	}
	key, _ := p[1].(string)
	if key == "judge" {
		return true
	}
	if keep(name) == invariant.KeepRoutes {
		return slices.Contains(carriers, key)
	}
	return IsCollected(name) && slices.Contains(collectors, key)
}

// Whole reports whether a scenario that was shrunk for one invariant still has what another one needs.
func Whole(name, other string) bool {
	switch {
	case keep(other) == invariant.KeepRoutes:
		return keep(name) == invariant.KeepRoutes
	case IsCollected(other):
		return IsCollected(name)
	}
	return true
}

// IsCollected reports whether an invariant is about something that the manager's background processes fix:
// quiescent invariants, and those about what a collector releases.
func IsCollected(name string) bool {
	return keep(name) == invariant.KeepCollectors || invariant.AtRest(name)
}

func keep(name string) invariant.Keep {
	i, _ := invariant.Named(name)
	return i.Keep
}

// Settings is the kind of the manifest with a collector's grace period.
const Settings = "KubeControllersConfiguration"

// CountSettings returns the number of manifests of this kind.
func CountSettings(docs []Tree) (n int) {
	for _, d := range docs {
		if Value(d, Path{"kind"}) == Settings {
			n++
		}
	}
	return n
}
