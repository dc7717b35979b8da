package calico

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
	"ipamsim/scenarios/plan"
	"ipamsim/sim/cluster"
)

// latency leaves room for the tunnels of the beginning, which come one after the other:
// see cluster.Config.InTurn.
func latency(c *capacity.Cluster, longest time.Duration) time.Duration {
	if !calico.Of(c).Tunnels {
		return longest
	}
	return min(longest, c.Apart/16/time.Duration(30*max(len(c.Nodes), capacity.Restarts)))
}

// unable: a migration with tunnels.
func unable(c *capacity.Cluster) string {
	if len(c.Migration) == 0 || !tunnelled(c) {
		return ""
	}
	return "a migration with tunnels: all nodes exchange their tunnel addresses at the same time, in an order that only a run shows; use --engine reference"
}

// tunnelled reports whether nodes have devices of pools that the migration is about.
func tunnelled(c *capacity.Cluster) bool {
	of := func(p reference.Pool) bool { return p.IPIP || p.VXLAN }
	return calico.Of(c).Tunnels && (slices.ContainsFunc(calico.Of(c).Pools, of) ||
		slices.ContainsFunc(c.Migration, func(s workload.Step) bool {
			change, _ := s.Change.(calico.Change)
			return of(change.Pool)
		}))
}

func daemons(c *capacity.Cluster) []string {
	if calico.Of(c).Tunnels {
		return []string{tunnelDaemon}
	}
	return nil
}

// withGrace moves the collector's grace period a little: passes begin at whole
// steps, and a pass that comes exactly one grace period after another must see the
// same here, where a message takes its time, as in the reference: that it is not
// over yet.
func withGrace(objects []cluster.Object, c *capacity.Cluster) ([]cluster.Object, error) {
	if c.Collect.Grace < 0 {
		return objects, nil
	}
	return withCollector(objects, cmp.Or(c.Collect.Grace, calico.GraceDefault)/c.Apart*c.Apart+c.Apart/plan.WorkAt)
}

// wanting recognizes two further errors of Calico that mean exhaustion.
//
// Source: libcalico-go/lib/ipam/ipam.go, ErrBlockLimit and findOrClaimBlock (v3.31).
func wanting(err string) bool {
	return strings.Contains(err, "cannot allocate new block due to per host block limit") ||
		strings.Contains(err, "failed to find or claim a block")
}
