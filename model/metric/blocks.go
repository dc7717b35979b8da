package metric

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
)

// Upstream's names for unknown pools and nodes.
//
// Source: kube-controllers/pkg/controllers/node/ipam.go (v3.31).
const (
	unknownPool = "no_ippool"
	unknownNode = "unknown_node"
	noAffinity  = "no_affinity"
)

// poolCounts are the gauges of one pool, by node.
type poolCounts struct {
	blocks, used, borrowed, candidates map[string]int
	leaked, empty                      int
}

// blocks measures a network whose addresses come from blocks.
func (s *sampler) blocks(n *model.Network) {
	pools := map[string]*poolCounts{}
	for i := range n.Blocks.Pools {
		pools[n.Blocks.Pools[i].Name] = s.zeroed()
	}
	s.count(n, pools)
	perNode := struct{ blocks, used, borrowed map[string]int }{map[string]int{}, map[string]int{}, map[string]int{}}
	for pool, c := range pools {
		for _, f := range []struct {
			name    string
			by, sum map[string]int
		}{
			{Blocks, c.blocks, perNode.blocks},
			{InUse, c.used, perNode.used},
			{Borrowed, c.borrowed, perNode.borrowed},
			{Candidates, c.candidates, nil},
		} {
			for node, count := range f.by {
				s.add(f.name, float64(count), "ippool", pool, "node", node)
				if f.sum != nil && count > 0 {
					f.sum[node] += count
				}
			}
		}
		s.add(Leaked, float64(c.leaked), "ippool", pool)
		s.add(EmptyBlocks, float64(c.empty), "ippool", pool)
	}
	for name, by := range map[string]map[string]int{BlocksPerNode: perNode.blocks, PerNode: perNode.used, BorrowedPerNode: perNode.borrowed} {
		for node, count := range by {
			s.add(name, float64(count), "node", node)
		}
	}
	s.room(n)
}

// zeroed is a pool's counts before counting. Upstream exports a zero for every
// node that it knows, except of blocks: a node without a block has no series, so
// that no alert on "0 blocks" ever fires.
//
// Source: kube-controllers/pkg/controllers/node/ipam.go, createZeroedMapForNodeValues
// and updateMetrics (v3.31).
func (s *sampler) zeroed() *poolCounts {
	c := &poolCounts{blocks: map[string]int{}, used: map[string]int{}, borrowed: map[string]int{}, candidates: map[string]int{}}
	for name, node := range s.Truth.Nodes {
		if node.Registered {
			c.used[name], c.borrowed[name], c.candidates[name] = 0, 0, 0
		}
	}
	return c
}

// count counts blocks and claims. A block outside of every pool is counted under upstream's name
// for unknown pools, which exists while there is such a block.
func (s *sampler) count(n *model.Network, pools map[string]*poolCounts) {
	type block struct {
		counts *poolCounts
		node   string
		claims int
	}
	blocks := map[string]*block{}
	var order []*block
	for i := range s.Record.Pools {
		p := &s.Record.Pools[i]
		if !n.Owns(p) {
			continue
		}
		name := unknownPool
		if pool := n.Blocks.PoolOf(p.Range.Addr()); pool != nil {
			name = pool.Name
		}
		if pools[name] == nil {
			pools[name] = &poolCounts{blocks: map[string]int{}, used: map[string]int{}, borrowed: map[string]int{}, candidates: map[string]int{}}
		}
		b := &block{counts: pools[name], node: p.Node}
		if p.Node == "" || strings.Contains(p.Node, ":") {
			b.node = noAffinity // or a controller that hands out addresses of services
		}
		b.counts.blocks[b.node]++
		blocks[p.Name], order = b, append(order, b)
	}
	has := s.reported(n.Key)
	for i := range s.Record.Claims {
		c := &s.Record.Claims[i]
		b := blocks[c.Pool]
		if b == nil {
			continue
		}
		node := cmp.Or(c.Node, unknownNode)
		b.claims++
		b.counts.used[node]++
		if node != unknownNode && node != b.node {
			b.counts.borrowed[node]++
		}
		if s.candidate(c, has) {
			b.counts.candidates[node]++
		}
		if s.gone[i] {
			b.counts.leaked++
		}
	}
	for _, b := range order {
		if b.claims == 0 && b.node != noAffinity {
			b.counts.empty++
		}
	}
}

// room measures the unclaimed blocks, and the nodes without a block.
func (s *sampler) room(n *model.Network) {
	free := make([]float64, len(n.Blocks.Pools))
	for i := range n.Blocks.Pools {
		p := &n.Blocks.Pools[i]
		s.add(PoolSize, math.Ldexp(1, p.Prefix.Addr().BitLen()-p.Prefix.Bits()), "ippool", p.Name)
		free[i] = s.unclaimed(n, p)
		s.add(FreeBlocks, free[i], "ippool", p.Name)
	}
	without, starved := 0, 0
	var withoutOf, starvedOf perFamily
	for name, node := range s.Truth.Nodes {
		if !node.Healthy() || !node.Registered {
			continue
		}
		bare, hungry := false, false
		for i, v4 := range []bool{true, false} {
			served, left := false, 0.0
			for k := range n.Blocks.Pools {
				if p := &n.Blocks.Pools[k]; p.Prefix.Addr().Is4() == v4 && hands(p) && slices.Contains(p.Nodes, name) {
					served, left = true, left+free[k]
				}
			}
			if wanted := v4 && n.Blocks.V4 || !v4 && n.Blocks.V6; !wanted || !served || s.hasBlock(name, v4) {
				continue
			}
			withoutOf[i]++
			if bare = true; left == 0 {
				hungry = true
				starvedOf[i]++
			}
		}
		if bare {
			without++
		}
		if hungry {
			starved++
		}
	}
	s.add(NodesWithoutBlock, float64(without))
	s.add(StarvedNodes, float64(starved))
	if dual(n) {
		s.families(NodesWithoutBlockPerFamily, withoutOf)
		s.families(StarvedNodesPerFamily, starvedOf)
	}
}

// hands reports whether a pool hands out addresses to any pod.
func hands(p *model.IPPool) bool { return !p.Disabled && !p.Manual && p.Workloads && !p.Selective }

func (s *sampler) hasBlock(node string, v4 bool) bool {
	return slices.ContainsFunc(s.Record.Affinities, func(a model.Affinity) bool {
		return a.Node == node && a.Block.Addr().Is4() == v4 && a.State != model.PendingDeletion
	})
}

// unclaimed is the number of blocks of a pool that contain neither a block nor an
// affinity of any size. It is 0 for a pool that hands out no blocks.
func (s *sampler) unclaimed(n *model.Network, p *model.IPPool) float64 {
	if p.Disabled || p.Manual {
		return 0
	}
	var taken []netip.Prefix
	take := func(x netip.Prefix) {
		if p.Prefix.Overlaps(x) {
			x = netip.PrefixFrom(x.Addr(), max(min(x.Bits(), p.BlockBits), p.Prefix.Bits())).Masked()
			taken = append(taken, x)
		}
	}
	for i := range s.Record.Pools {
		if b := &s.Record.Pools[i]; n.Owns(b) {
			take(b.Range)
		}
	}
	for i := range s.Record.Affinities {
		take(s.Record.Affinities[i].Block)
	}
	slices.SortFunc(taken, netip.Prefix.Compare)
	left := math.Ldexp(1, p.BlockBits-p.Prefix.Bits())
	var last netip.Prefix
	for _, x := range taken {
		if !last.IsValid() || !last.Overlaps(x) {
			left -= math.Ldexp(1, p.BlockBits-x.Bits())
			last = x
		}
	}
	return max(left, 0)
}
