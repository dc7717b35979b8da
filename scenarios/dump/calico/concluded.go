package calico

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
)

const (
	blocksName     = "ipamblocks." + group
	affinitiesName = "blockaffinities." + group
	handlesName    = "ipamhandles." + group
	poolsName      = "ippools." + group
)

// concluded returns the resources that must lack an object for a violation to hold. A report of
// calicoctl ipam check has all blocks and handles.
func (c *objects) concluded(v *model.Violation, r *model.Snapshot) []string {
	checked := c.tables.Every && len(c.tables.Checked) > 0
	switch v.Invariant {
	case invariant.BlackholedAddress.Name:
		return c.unrouted(v, r)
	case invariant.OutOfPool.Name:
		return []string{poolsName}
	case invariant.StarvedNode.Name:
		return []string{blocksName, affinitiesName}
	case invariant.BlockOwner.Name, invariant.AffinityMismatch.Name:
		return unless(checked || hasBlock(v, r), []string{blocksName})
	case invariant.LeakedAffinity.Name:
		if v.Code == invariant.BlockWithoutAffinity {
			return []string{affinitiesName}
		}
		return unless(checked || hasBlock(v, r), []string{blocksName})
	case invariant.UnbackedSandbox.Name: // the claim may be in an overlapping block outside the dump
		return unless(checked, []string{blocksName, poolsName})
	case invariant.LeftoverHandle.Name:
		return unless(checked || hasBlock(v, r), []string{blocksName})
	case invariant.HandleCount.Name:
		id := model.Named(v.Objects, model.RefHandle)
		return unless(checked || slices.ContainsFunc(r.Handles, func(h model.Handle) bool { return h.ID == id }), []string{handlesName})
	}
	return nil
}

// unrouted returns the resources that may have the route to an address: its pool, which defines the
// encapsulation, and, if no route was found, the block, its affinity and the peers.
func (c *objects) unrouted(v *model.Violation, r *model.Snapshot) (out []string) {
	a, err := netip.ParseAddr(model.Named(v.Objects, model.RefAddress))
	if err != nil {
		return nil
	}
	lies := func(text string) bool {
		p, err := netip.ParsePrefix(text)
		return err == nil && p.Contains(a)
	}
	out = unless(slices.ContainsFunc(c.pools.Keys(), func(name string) bool { return lies(c.pools[name].Value.CIDR) }), []string{poolsName})
	if !strings.Contains(v.Code, "no-route") {
		return out
	}
	affine := slices.ContainsFunc(r.Affinities, func(x model.Affinity) bool { return x.Block.Contains(a) })
	if !affine || !slices.ContainsFunc(r.Pools, func(p model.Pool) bool { return p.Range.Contains(a) }) {
		out = append(out, blocksName, affinitiesName)
	}
	return append(out, slices.DeleteFunc([]string{"bgpconfigurations." + group, "bgppeers." + group}, func(name string) bool { return !c.Saw(name) })...)
}

// hasBlock reports whether the record has the block that a violation is about.
func hasBlock(v *model.Violation, r *model.Snapshot) bool {
	b, err := netip.ParsePrefix(model.Named(v.Objects, model.RefBlock))
	return err == nil && slices.ContainsFunc(r.Pools, func(p model.Pool) bool { return p.Range == b })
}
