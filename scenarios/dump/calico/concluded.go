package calico

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios/dump"
)

// concluded are the resources of which an object must be missing for a violation to be so. A
// report of calicoctl ipam check has all blocks and handles.
func (c *objects) concluded(v *model.Violation, r *model.Snapshot) []string {
	const blocks, affinities, handles = "ipamblocks." + group, "blockaffinities." + group, "ipamhandles." + group
	checked := len(c.tables.checked) > 0
	switch v.Invariant {
	case invariant.BlackholedAddress.Name:
		if strings.Contains(v.Code, "no-route") { // of an affinity, a pool or a peer that is missing
			return slices.DeleteFunc([]string{blocks, affinities, "ippools." + group, "bgpconfigurations." + group, "bgppeers." + group}, func(name string) bool { return !c.Saw(name) })
		}
	case invariant.OutOfPool.Name:
		return []string{"ippools." + group}
	case invariant.StarvedNode.Name:
		return []string{blocks, affinities}
	case invariant.BlockOwner.Name, invariant.AffinityMismatch.Name:
		return unless(checked || hasBlock(v, r), []string{blocks})
	case invariant.LeakedAffinity.Name:
		if v.Code == invariant.BlockWithoutAffinity {
			return []string{affinities}
		}
		return unless(checked || hasBlock(v, r), []string{blocks})
	case invariant.UnbackedSandbox.Name:
		a, err := netip.ParseAddr(model.Named(v.Objects, model.RefAddress))
		if err == nil && dump.Claimed(r, a, model.Named(v.Objects, model.RefPod)) { // in a block of a pool that is missing
			return []string{"ippools." + group}
		}
		return unless(checked || err != nil || slices.ContainsFunc(r.Pools, func(p model.Pool) bool { return p.Range.Contains(a) }), []string{blocks})
	case invariant.LeftoverHandle.Name:
		return unless(checked || hasBlock(v, r), []string{blocks})
	case invariant.HandleCount.Name:
		id := model.Named(v.Objects, model.RefHandle)
		return unless(checked || slices.ContainsFunc(r.Handles, func(h model.Handle) bool { return h.ID == id }), []string{handles})
	}
	return nil
}

// hasBlock reports whether the record has the block that a violation is about.
func hasBlock(v *model.Violation, r *model.Snapshot) bool {
	b, err := netip.ParsePrefix(model.Named(v.Objects, model.RefBlock))
	return err == nil && slices.ContainsFunc(r.Pools, func(p model.Pool) bool { return p.Range == b })
}
