package invariant

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
)

// blocks are the pools that are blocks, sorted by prefix: those under the name of a network whose
// addresses come from blocks, whatever pool contains them.
func blocks(v *View) []*model.Pool {
	var out []*model.Pool
	for i := range v.Record.Pools {
		if p := &v.Record.Pools[i]; isBlock(v.Networks, p.Network) {
			out = append(out, p)
		}
	}
	byPrefix := func(a, b *model.Pool) int { return a.Range.Compare(b.Range) }
	if !slices.IsSortedFunc(out, byPrefix) {
		slices.SortStableFunc(out, byPrefix)
	}
	return out
}

func isBlock(networks []model.Network, network string) bool {
	return slices.ContainsFunc(networks, func(n model.Network) bool { return n.Blocks != nil && n.Name == network })
}

// blockOf finds a block by its prefix, or nil.
func blockOf(blocks []*model.Pool, p netip.Prefix) *model.Pool {
	i, ok := slices.BinarySearchFunc(blocks, p, func(b *model.Pool, p netip.Prefix) int { return b.Range.Compare(p) })
	if !ok {
		return nil
	}
	return blocks[i]
}

// blockNetwork is the network that a block is of, or nil.
func blockNetwork(v *View, b *model.Pool) *model.Network {
	for i := range v.Networks {
		if n := &v.Networks[i]; n.Blocks != nil && n.Owns(b) {
			return n
		}
	}
	return nil
}

// virtual reports whether an affinity's owner is no node, but a controller that
// hands out addresses of services.
func virtual(owner string) bool { return strings.HasPrefix(owner, "virtual:") }

// ownerFact is the owner of a block; empty if it has none.
func ownerFact(b *model.Pool) model.Fact { return model.NewFact("owner", nodeName(b.Node)) }

// Codes of an incorrect owner in a block.
const (
	blockOfAnother    = "block-of-another" // another node's
	blockWithoutOwner = "block-of-nobody"  // released, but still there
)

// ownedBy is the code of a block that is not the node's in question.
func ownedBy(b *model.Pool) string {
	if b.Node == "" {
		return blockWithoutOwner
	}
	return blockOfAnother
}

// place is the place of a claim: a block, a pool or a network.
func place(v *View, c *model.Claim) model.Ref {
	if isBlock(v.Networks, c.Network) {
		for i := range v.Record.Pools {
			if p := &v.Record.Pools[i]; p.Name == c.Pool {
				return model.BlockOf(p.Range)
			}
		}
	}
	return poolName(c.Pool)
}
