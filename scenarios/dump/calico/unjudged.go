package calico

import (
	"fmt"
	"slices"

	"ipamsim/model/invariant"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
)

// What hangs on which resource, by names of invariants.
var (
	ofPods = []string{
		invariant.BlackholedAddress.Name, invariant.DuplicateAddress.Name, invariant.LeakedClaim.Name, invariant.OutOfPool.Name, invariant.UnbackedSandbox.Name,
	}
	ofNodes  = []string{invariant.BlackholedAddress.Name, invariant.LeakedAffinity.Name, invariant.StarvedNode.Name}
	ofRoutes = []string{invariant.BlackholedAddress.Name}
	ofBlocks = slices.Concat(ofPods, ofNodes, ofAffinities, ofHandles, ofReserved, ofConfig, []string{
		invariant.BlockOwner.Name, invariant.DoubleClaim.Name, invariant.OverlappingBlocks.Name,
	})
	ofAffinities = []string{invariant.AffinityMismatch.Name, invariant.LeakedAffinity.Name}
	ofHandles    = []string{invariant.HandleCount.Name, invariant.LeftoverHandle.Name}
	ofPools      = []string{invariant.BlackholedAddress.Name, invariant.OutOfPool.Name, invariant.StarvedNode.Name}
	ofReserved   = []string{invariant.ExcludedAddress.Name}
	ofConfig     = []string{invariant.MaxBlocks.Name, invariant.StrictAffinity.Name}
)

// needs are what cannot be judged without a resource, nor something else that says as
// much.
func (d *record) needs(r *dump.Resource) []string {
	switch r.Name() {
	case "pods":
		return unless(d.Saw("workloadendpoints."+secondGroup), ofPods)
	case "nodes":
		return unless(d.Saw("nodes."+secondGroup), ofNodes)
	case "ippools." + group:
		return ofPools
	case "ipreservations." + group:
		return ofReserved
	case "ipamconfigs." + group:
		_, shown := d.c.tables.Config["StrictAffinity"]
		return unless(shown, ofConfig)
	case "bgpconfigurations." + group:
		return unless(!d.announced(), ofRoutes)
	case "bgppeers." + group: // kubectl's list of several kinds does not show empty ones; a mesh does without
		return unless(!d.announced() || d.c.mesh(), ofRoutes)
	case "blockaffinities." + group:
		return ofAffinities
	case "ipamblocks." + group: // a report of calicoctl ipam check has all blocks and handles
		if d.c.tables.Affinities { // its text has all blocks
			return unless(d.c.tables.Every, slices.DeleteFunc(slices.Clone(ofBlocks), func(s string) bool { return s == invariant.OverlappingBlocks.Name }))
		}
		return unless(d.c.tables.Every, ofBlocks)
	case "ipamhandles." + group:
		return unless(d.c.tables.Every, ofHandles)
	}
	return nil
}

func unless(answered bool, what []string) []string {
	if answered {
		return nil
	}
	return what
}

// announced reports whether BIRD has a part in the routes of any pool: those of VXLAN
// are Felix's.
func (d *record) announced() bool {
	for _, p := range d.pools {
		if p.VXLANMode == "" || p.VXLANMode == "Never" {
			return true
		}
	}
	return len(d.pools) == 0
}

// unrecorded is that pods have addresses of Calico's pools and its record is empty: either
// another IPAM plugin gives them out, which Calico's CNI plugin then names in its
// configuration, or all of the record is lost.
func (d *record) unrecorded() []scenarios.Unjudged {
	const blocks = "ipamblocks." + group
	if len(d.blocks)+len(d.affinities)+len(d.handles) > 0 || !d.Saw(blocks) && !d.c.tables.Every {
		return nil
	}
	for _, p := range d.Pods {
		if ip := p.Value.Annotations[podNotes+"podIP"]; ip != "" && !p.Value.HostNetwork {
			what := slices.Sorted(slices.Values(ofBlocks))
			return []scenarios.Unjudged{{What: slices.Compact(what), Without: []string{"/etc/cni/net.d/10-calico.conflist"}}}
		}
	}
	return nil
}

// show is the line by which calicoctl shows what etcd has, "" for what kubectl shows.
//
// Source: calicoctl/calicoctl/commands, get and ipam (v3.31).
func (c *objects) show(r *dump.Resource) string {
	if !c.etcd || r.Group() != group {
		return ""
	}
	switch r.Kind {
	case "IPAMBlock", "IPAMHandle":
		return "calicoctl ipam check -o check.json"
	case "IPAMConfig":
		return "calicoctl ipam show --show-configuration > configuration.txt"
	}
	return fmt.Sprintf("calicoctl get %s -o yaml > %s.yaml", r.Plural, r.Plural)
}
