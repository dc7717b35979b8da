package tree

import (
	"slices"

	"ipamsim/model/invariant"
)

// Some parts of a cluster must stay, because without them anybody would expect
// the failure: claims leak where nobody collects, and packets are lost where the
// pool has no tunnels and calico-node gives its device no address. And a bound is a
// bound for the timers that the world was drawn with. A small world without them
// fails in the same words, and shows nothing.
var (
	// collectors give back what is lost, when their time has come.
	collectors = []string{"daemons", "reconcilers", "timers"}
	// carriers bring packets to where they belong.
	carriers = []string{"daemons", "fabric", "ipipMode", "vxlanMode", "disableBGPExport"}
)

// IsWhole reports whether a value of a document belongs to what must stay for this
// invariant.
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

// Whole reports whether a world that was made small for one invariant still has what
// another needs.
func Whole(name, other string) bool {
	switch {
	case keep(other) == invariant.KeepRoutes:
		return keep(name) == invariant.KeepRoutes
	case IsCollected(other):
		return IsCollected(name)
	}
	return true
}

// IsCollected reports whether an invariant is about what the manager's background
// processes would fix: quiescent invariants, and those about what a collector releases.
func IsCollected(name string) bool {
	return keep(name) == invariant.KeepCollectors || invariant.AtRest(name)
}

func keep(name string) invariant.Keep {
	i, _ := invariant.Named(name)
	return i.Keep
}

// Settings is the manifest that holds a collector's grace period.
const Settings = "KubeControllersConfiguration"

// CountSettings is how many settings of collectors the documents hold.
func CountSettings(docs []Tree) (n int) {
	for _, d := range docs {
		if Value(d, Path{"kind"}) == Settings {
			n++
		}
	}
	return n
}
