package checker

import (
	"maps"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/route"
)

// askedMax is the number of nodes from which CheckRecord checks the routes to addresses. A plane of routes
// grows with nodes times blocks: 5,000 nodes would have 25 million.
const askedMax = 150

// settled are the addresses that nodes cannot reach after all routes have converged, and the number
// of nodes that were not checked.
//
// In a large cluster it checks irregular nodes first: those that use an address in another node's
// block or in no block, or that have an affinity for another node's block. Then it checks others,
// in the order of their names. A node that is not checked has only its own blocks, and routes like
// the checked ones of this kind.
func (c *Checker) settled() (losses []route.Loss, leftOut int) {
	four, six := c.factsLocked()
	if len(four.Nodes) > askedMax {
		leftOut = len(four.Nodes) - askedMax
		first := odd(&four, c.recorded.Pools)
		maps.Copy(first, odd(&six, c.recorded.Pools))
		four, six = pickNodes(four, first), pickNodes(six, first)
	}
	n := route.NewNetwork(c.cfg.Fabric)
	n.Observe(0, four, six)
	route.Settle(n)
	losses = slices.Clone(n.Losses())
	for i := range losses {
		losses[i].Since = 0
	}
	return losses, leftOut
}

// odd are the nodes with an address that is not in a block of its own node.
func odd(f *route.Facts, blocks []model.Pool) map[string]bool {
	owners := map[netip.Prefix][]string{} // nodes that claim the block
	lengths := map[int]bool{}
	for i := range blocks {
		b := &blocks[i]
		owners[b.Range] = append(owners[b.Range], b.Node)
		lengths[b.Range.Bits()] = true
	}
	for _, a := range f.Affinities {
		if a.State != model.Pending {
			lengths[a.Block.Bits()] = true
			owners[a.Block] = append(owners[a.Block], a.Node)
		}
	}
	out := map[string]bool{}
	for _, l := range f.Local {
		home := false
		for _, bits := range slices.Sorted(maps.Keys(lengths)) {
			block, err := l.Addr.Prefix(bits)
			if err != nil || len(owners[block]) == 0 {
				continue
			}
			home = true
			for _, who := range owners[block] {
				if who != l.Node {
					out[who], out[l.Node] = true, true
				}
			}
			if len(owners[block]) == 1 { // a block without affinity, or the other way round
				out[l.Node] = true
			}
		}
		if !home {
			out[l.Node] = true
		}
	}
	return out
}

// pickNodes keeps askedMax nodes, the odd ones first, and the pods on them.
func pickNodes(f route.Facts, odd map[string]bool) route.Facts {
	kept := map[string]bool{}
	var nodes []route.Node
	for _, first := range []bool{true, false} {
		for _, n := range f.Nodes {
			if odd[n.Name] == first && len(kept) < askedMax {
				kept[n.Name] = true
			}
		}
	}
	for _, n := range f.Nodes {
		if kept[n.Name] {
			nodes = append(nodes, n)
		}
	}
	f.Nodes = nodes
	f.Local = slices.DeleteFunc(slices.Clone(f.Local), func(l route.Local) bool { return !kept[l.Node] })
	f.Affinities = slices.DeleteFunc(slices.Clone(f.Affinities), func(a model.Affinity) bool { return !kept[a.Node] })
	f.Blocks = slices.DeleteFunc(slices.Clone(f.Blocks), func(b route.Block) bool { return b.Node != "" && !kept[b.Node] })
	return f
}
