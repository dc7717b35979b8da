package shrink

import (
	"slices"
	"strings"

	"ipamsim/model/invariant"
)

// Some parts of a cluster must stay, because without them anybody would expect
// the failure: claims leak where nobody collects, and packets are lost where the
// pool has no tunnels and calico-node gives its device no address. A small world
// without them fails in the same words, and shows nothing.
var (
	// collectors give back what is lost.
	collectors = []string{"daemons", "reconcilers"}
	// carriers bring packets to where they belong.
	carriers = []string{"daemons", "fabric", "ipipMode", "vxlanMode", "disableBGPExport"}
)

// isWhole reports whether a value of a document belongs to what must stay for this
// invariant.
func isWhole(name string, p path) bool {
	if len(p) < 2 || len(p) > 3 || p[0] != "spec" {
		return false
	}
	key, _ := p[1].(string)
	if name == "blackholed-address" {
		return slices.Contains(carriers, key)
	}
	return isCollected(name) && slices.Contains(collectors, key)
}

// isCollected reports whether an invariant is about what the manager's background
// processes would mend: those that are judged at rest, and what stays or lacks for
// want of a collector.
func isCollected(name string) bool {
	return strings.HasPrefix(name, "leaked-") || strings.HasPrefix(name, "leftover-") || name == "starved-node" ||
		slices.ContainsFunc(invariant.All(), func(i invariant.Invariant) bool { return i.Name == name && i.Phase == invariant.Quiescent })
}
