package calico

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
)

// concluded are the resources of which an object must be missing for a violation to be so. A
// report of calicoctl ipam check has all blocks and handles.
func (c *objects) concluded(v *model.Violation, r *model.Snapshot) []string {
	const blocks, affinities, handles = "ipamblocks." + group, "blockaffinities." + group, "ipamhandles." + group
	checked := len(c.tables.checked) > 0
	switch v.Invariant {
	case invariant.OutOfPool.Name:
		return []string{"ippools." + group}
	case invariant.StarvedNode.Name:
		return []string{blocks, affinities}
	case invariant.LeakedAffinity.Name:
		if v.Code == invariant.BlockWithoutAffinity {
			return []string{affinities}
		}
		return unless(checked || !strings.HasSuffix(v.Code, invariant.WithoutBlock), []string{blocks})
	case invariant.UnbackedSandbox.Name:
		a, err := netip.ParseAddr(model.Named(v.Objects, model.RefAddress))
		return unless(checked || err != nil || slices.ContainsFunc(r.Pools, func(p model.Pool) bool { return p.Range.Contains(a) }), []string{blocks})
	case invariant.LeftoverHandle.Name:
		b, err := netip.ParsePrefix(model.Named(v.Objects, model.RefBlock))
		return unless(checked || err == nil && slices.ContainsFunc(r.Pools, func(p model.Pool) bool { return p.Range == b }), []string{blocks})
	case invariant.HandleCount.Name:
		id := model.Named(v.Objects, model.RefHandle)
		return unless(checked || slices.ContainsFunc(r.Handles, func(h model.Handle) bool { return h.ID == id }), []string{handles})
	}
	return nil
}
