package model_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/model"
)

// wikimedia is the staging cluster of seeds/000: one /24 in blocks of 64, two
// nodes with two blocks each, and node-3 with none.
func wikimedia() (model.Network, model.Snapshot) {
	n := model.Network{Key: "default/net", Ranges: []model.Range{ranged("10.64.75.0/24", "10.64.75.0", "10.64.75.255")}, Blocks: &model.BlockPolicy{
		Pools:        []model.IPPool{{Name: "pool", Prefix: cidr("10.64.75.0/24"), BlockBits: 26, Workloads: true, Tunnels: true, Nodes: []string{"node-1", "node-2", "node-3"}}},
		AutoAllocate: true, V4: true,
	}}
	var s model.Snapshot
	for i, node := range []string{"node-1", "node-2", "node-1", "node-2"} {
		block(&s, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 64, 75, byte(64 * i)}), 26), node, model.Confirmed)
	}
	for a := range 10 {
		use(&s, fmt.Sprintf("10.64.75.%d", a))
	}
	return n, s
}

// block adds a block and its owner's affinity.
func block(s *model.Snapshot, p netip.Prefix, node, state string) {
	s.Pools = append(s.Pools, model.Pool{Name: p.String(), Range: p, Node: node})
	if node != "" {
		s.Affinities = append(s.Affinities, model.Affinity{Block: p, Node: node, State: state})
	}
}

// use claims an address in its block.
func use(s *model.Snapshot, a string) {
	for _, p := range s.Pools {
		if p.Range.Contains(ip(a)) {
			s.Claims = append(s.Claims, model.Claim{Pool: p.Name, Addr: ip(a)})
		}
	}
}

// drop takes the first block of a node away, with its affinity if so asked.
func drop(s *model.Snapshot, node string, affinity bool) {
	i := slices.IndexFunc(s.Pools, func(p model.Pool) bool { return p.Node == node })
	gone := s.Pools[i].Range
	s.Pools = slices.Delete(s.Pools, i, i+1)
	s.Claims = slices.DeleteFunc(s.Claims, func(c model.Claim) bool { return gone.Contains(c.Addr) })
	if affinity {
		s.Affinities = slices.DeleteFunc(s.Affinities, func(a model.Affinity) bool { return a.Block == gone })
	}
}

func TestFreeOfBlocks(t *testing.T) {
	own := func(b *model.BlockPolicy) { b.Strict = true } // only a node's own blocks and new ones
	for _, c := range []struct {
		name   string
		node   string
		change func(*model.BlockPolicy, *model.Snapshot)
		want   int
	}{
		{"own blocks and the others'", "node-1", nil, 246},
		{"a node without block borrows", "node-3", nil, 246},
		{"a node without block may not borrow", "node-3", func(b *model.BlockPolicy, _ *model.Snapshot) { b.Strict = true }, 0},
		{"own blocks only", "node-1", func(b *model.BlockPolicy, _ *model.Snapshot) { b.Strict = true }, 118},
		{"a block nobody has", "node-3", func(b *model.BlockPolicy, s *model.Snapshot) { own(b); drop(s, "node-1", true) }, 64},
		{"which may not be claimed", "node-3", func(b *model.BlockPolicy, s *model.Snapshot) { own(b); b.AutoAllocate = false; drop(s, "node-1", true) }, 0},
		{"without allocation nothing is borrowed either", "node-3", func(b *model.BlockPolicy, s *model.Snapshot) { b.AutoAllocate = false }, 0},
		{"at the limit nothing is claimed, nor borrowed", "node-1", func(b *model.BlockPolicy, s *model.Snapshot) { b.MaxBlocks = 2; drop(s, "node-2", true) }, 118},
		{"below the limit", "node-2", func(b *model.BlockPolicy, s *model.Snapshot) { own(b); b.MaxBlocks = 2; drop(s, "node-2", true) }, 128},
		{"an affinity without block makes it again", "node-1", func(b *model.BlockPolicy, s *model.Snapshot) { own(b); drop(s, "node-1", false) }, 128},
		{"an affinity that the block does not know", "node-1", func(b *model.BlockPolicy, s *model.Snapshot) { own(b); s.Pools[0].Node = "node-2" }, 64},
		{"on its way out", "node-1", func(b *model.BlockPolicy, s *model.Snapshot) { own(b); s.Affinities[0].State = model.PendingDeletion }, 64},
		{"reserved addresses", "node-1", func(b *model.BlockPolicy, _ *model.Snapshot) {
			own(b)
			b.Reserved = []netip.Prefix{cidr("10.64.75.8/29"), cidr("10.64.75.128/26"), cidr("fd00::/64")}
		}, 48},
		{"disabled", "node-1", func(b *model.BlockPolicy, _ *model.Snapshot) { b.Pools[0].Disabled = true }, 0},
		{"for tunnels only", "node-1", func(b *model.BlockPolicy, _ *model.Snapshot) { b.Pools[0].Workloads = false }, 0},
		{"for fixed addresses only", "node-1", func(b *model.BlockPolicy, _ *model.Snapshot) { b.Pools[0].Manual = true }, 0},
		{"for some namespaces only", "node-1", func(b *model.BlockPolicy, _ *model.Snapshot) { b.Pools[0].Selective = true }, 0},
		{"for other nodes", "node-1", func(b *model.BlockPolicy, _ *model.Snapshot) { b.Pools[0].Nodes = []string{"node-2"} }, 0},
		{"blocks of another size are not borrowed from", "node-3", func(b *model.BlockPolicy, _ *model.Snapshot) { b.Pools[0].BlockBits = 28 }, 0},
		{"but stay their owner's", "node-1", func(b *model.BlockPolicy, _ *model.Snapshot) { b.Pools[0].BlockBits = 28 }, 118},
		{"both families are needed", "node-1", func(b *model.BlockPolicy, _ *model.Snapshot) { b.V6 = true }, 0},
		{"no family at all", "node-1", func(b *model.BlockPolicy, _ *model.Snapshot) { b.V4 = false }, 0},
		{"a pool larger than memory", "node-1", func(b *model.BlockPolicy, _ *model.Snapshot) {
			b.V4, b.V6 = false, true
			b.Pools = append(b.Pools, model.IPPool{Name: "six", Prefix: cidr("fd00::/32"), BlockBits: 122, Workloads: true, Nodes: []string{"node-1"}})
		}, 20 * 64},
		{"and many blocks to claim", "node-1", func(b *model.BlockPolicy, _ *model.Snapshot) {
			b.V4, b.V6, b.MaxBlocks = false, true, 1<<20
			b.Pools = append(b.Pools, model.IPPool{Name: "six", Prefix: cidr("fd00::/32"), BlockBits: 122, Workloads: true, Nodes: []string{"node-1"}})
		}, model.FreeMax},
	} {
		n, s := wikimedia()
		n.Ranges = append(n.Ranges, ranged("fd00::/32", "fd00::", "fd00:0:ffff:ffff:ffff:ffff:ffff:ffff"))
		if c.change != nil {
			c.change(n.Blocks, &s)
		}
		if got := model.Free([]model.Network{n}, s, "default/net", c.node); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// A pod that requests a pool is served whatever the pool selects, but not if the pool is only for
// tunnels.
func TestFreeOfAskedPools(t *testing.T) {
	pool := model.IPPool{Name: "a", Prefix: netip.MustParsePrefix("10.0.0.0/28"), BlockBits: 28, Workloads: true, Manual: true}
	tunnels := model.IPPool{Name: "b", Prefix: netip.MustParsePrefix("10.1.0.0/28"), BlockBits: 28, Tunnels: true, Nodes: []string{"node-1"}}
	networks := []model.Network{{
		Key: "k", Name: "k", Ranges: []model.Range{{Prefix: pool.Prefix}, {Prefix: tunnels.Prefix}},
		Blocks: &model.BlockPolicy{V4: true, AutoAllocate: true, Pools: []model.IPPool{pool, tunnels}},
	}}
	for asked, want := range map[string]bool{"a": true, "10.0.0.0/28": true, "b": false, "c": false} {
		if free := model.FreeOf(networks, model.Snapshot{}, "k", "node-1", []string{asked}); free > 0 != want {
			t.Errorf("%s: %d free", asked, free)
		}
	}
}

// TestFreeOfBlocksLaw attaches pods to a node as upstream does, with blocks in random order, until
// a request is refused: the number of pods is never less than Free.
func TestFreeOfBlocksLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, s := drawBlocks(t)
		free := model.Free([]model.Network{n}, s, n.Key, "a")
		h := host{t: t, policy: n.Blocks, s: s, used: map[netip.Addr]bool{}}
		for _, c := range s.Claims {
			h.used[c.Addr] = true
		}
		got := h.attachAll()
		if got < free {
			t.Fatalf("Free is %d, but the node was refused after %d (%+v %+v)", free, got, n.Blocks, s)
		}
		odd := func(p model.Pool) bool { return p.Range.Bits() != n.Blocks.PoolOf(p.Range.Addr()).BlockBits }
		leaving := func(a model.Affinity) bool { return a.State == model.PendingDeletion }
		limited := n.Blocks.MaxBlocks > 0 || len(h.s.Affinities) >= 20
		if !limited && !slices.ContainsFunc(s.Pools, odd) && !slices.ContainsFunc(s.Affinities, leaving) && got > free {
			t.Fatalf("Free is %d, but %d pods were attached (%+v %+v)", free, got, n.Blocks, s)
		}
	})
}

func drawBlocks(t *rapid.T) (model.Network, model.Snapshot) {
	n := model.Network{Key: "k", Blocks: &model.BlockPolicy{
		V4: true, Strict: rapid.Bool().Draw(t, "strict"), AutoAllocate: rapid.IntRange(0, 3).Draw(t, "auto") > 0, MaxBlocks: rapid.IntRange(0, 4).Draw(t, "max"),
	}}
	for _, base := range []string{"10.0.0.0/28", "10.0.0.32/27"}[:rapid.IntRange(1, 2).Draw(t, "pools")] {
		n.Blocks.Pools = append(n.Blocks.Pools, model.IPPool{
			Prefix: cidr(base), BlockBits: rapid.IntRange(29, 31).Draw(t, "bits"), Workloads: true, Nodes: []string{"a", "b"},
			Disabled: rapid.IntRange(0, 5).Draw(t, "disabled") == 0,
		})
		n.Ranges = append(n.Ranges, model.Range{Prefix: cidr(base), Start: cidr(base).Addr(), End: model.LastAddr(cidr(base))})
	}
	var s model.Snapshot
	for range rapid.IntRange(0, 8).Draw(t, "blocks") {
		pool := rapid.SampledFrom(n.Blocks.Pools).Draw(t, "pool")
		bits := pool.BlockBits
		if rapid.IntRange(0, 4).Draw(t, "odd") == 0 {
			bits = rapid.IntRange(29, 31).Draw(t, "bits")
		}
		p := netip.PrefixFrom(rapid.SampledFrom(enumerate(pool.Prefix)).Draw(t, "at"), bits).Masked()
		if slices.ContainsFunc(s.Pools, func(q model.Pool) bool { return q.Range.Overlaps(p) }) {
			continue
		}
		block(&s, p, rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "owner"),
			rapid.SampledFrom([]string{model.Pending, model.Confirmed, model.Confirmed, model.PendingDeletion}).Draw(t, "state"))
		for _, a := range enumerate(p) {
			if rapid.Bool().Draw(t, "used") {
				use(&s, a.String())
			}
		}
	}
	all := append(enumerate(n.Blocks.Pools[0].Prefix), enumerate(cidr("10.0.0.32/27"))...)
	for range rapid.IntRange(0, 3).Draw(t, "reservations") {
		n.Blocks.Reserved = append(n.Blocks.Reserved, netip.PrefixFrom(rapid.SampledFrom(all).Draw(t, "reserved"), rapid.IntRange(28, 32).Draw(t, "length")).Masked())
	}
	return n, s
}

// host is a model of node a that attaches pods. It follows the order of upstream's autoAssign and
// walks through every address.
type host struct {
	t      *rapid.T
	policy *model.BlockPolicy
	s      model.Snapshot
	used   map[netip.Addr]bool
}

// attachAll is the number of pods that get an address that no other pod has.
func (h *host) attachAll() int {
	count := 0
	for {
		a, ok := h.attach()
		if !ok {
			return count
		}
		if !h.used[a] { // two blocks overlap: upstream gives an address twice
			count++
		}
		h.used[a] = true
		use(&h.s, a.String())
	}
}

func (h *host) attach() (netip.Addr, bool) {
	owned := 0
	for _, a := range h.s.Affinities {
		pool := h.policy.PoolOf(a.Block.Addr())
		if a.Node != "a" || pool.Disabled {
			continue
		}
		owned++
		if p := h.find(a.Block); p != nil && p.Node == "a" {
			if got, ok := h.from(*p); ok {
				return got, true
			}
		}
	}
	limit := h.policy.MaxBlocks
	if limit == 0 {
		limit = 20
	}
	if owned >= limit || !h.policy.AutoAllocate {
		return netip.Addr{}, false
	}
	if free := h.candidates(); len(free) > 0 {
		p := rapid.SampledFrom(free).Draw(h.t, "claims")
		block(&h.s, p, "a", model.Confirmed)
		return h.from(*h.find(p))
	}
	if h.policy.Strict {
		return netip.Addr{}, false
	}
	for _, p := range h.s.Pools {
		pool := h.policy.PoolOf(p.Range.Addr())
		if got, ok := h.from(p); ok && !pool.Disabled && pool.BlockBits == p.Range.Bits() {
			return got, true
		}
	}
	return netip.Addr{}, false
}

// candidates are the blocks that do not exist and are not reserved as a whole.
func (h *host) candidates() []netip.Prefix {
	var out []netip.Prefix
	for _, pool := range h.policy.Pools {
		for _, a := range enumerate(pool.Prefix) {
			p := netip.PrefixFrom(a, pool.BlockBits)
			free := slices.ContainsFunc(enumerate(p), func(a netip.Addr) bool { return !h.reserved(a) })
			if p == p.Masked() && free && !pool.Disabled && h.find(p) == nil {
				out = append(out, p)
			}
		}
	}
	return out
}

func (h *host) find(p netip.Prefix) *model.Pool {
	for i := range h.s.Pools {
		if h.s.Pools[i].Range == p {
			return &h.s.Pools[i]
		}
	}
	return nil
}

// from is an address that a block itself takes for free.
func (h *host) from(p model.Pool) (netip.Addr, bool) {
	for _, a := range enumerate(p.Range) {
		if !h.reserved(a) && !slices.ContainsFunc(h.s.Claims, func(c model.Claim) bool { return c.Pool == p.Name && c.Addr == a }) {
			return a, true
		}
	}
	return netip.Addr{}, false
}

func (h *host) reserved(a netip.Addr) bool {
	return slices.ContainsFunc(h.policy.Reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}

// A block can be claimed that no node has, that is not reserved as a whole, of a pool that
// serves every pod on the node.
func TestClaimable(t *testing.T) {
	policy := func(change func(*model.BlockPolicy)) *model.Network {
		n := &model.Network{Key: "default/net", Ranges: []model.Range{ranged("10.64.75.0/24", "10.64.75.0", "10.64.75.255")}, Blocks: &model.BlockPolicy{
			Pools: []model.IPPool{{Name: "pool", Prefix: cidr("10.64.75.0/24"), BlockBits: 26, Workloads: true, Nodes: []string{"node-1", "node-2"}}},
			V4:    true,
		}}
		change(n.Blocks)
		return n
	}
	var three model.Snapshot
	for _, b := range []string{"10.64.75.0/26", "10.64.75.64/26", "10.64.75.128/26"} {
		block(&three, cidr(b), "node-1", model.Confirmed)
	}
	four := three
	block(&four, cidr("10.64.75.192/26"), "node-1", model.Confirmed)
	for name, tt := range map[string]struct {
		change func(*model.BlockPolicy)
		s      *model.Snapshot
		v4     bool
		want   bool
	}{
		"one is left":              {func(*model.BlockPolicy) {}, &three, true, true},
		"none is left":             {func(*model.BlockPolicy) {}, &four, true, false},
		"of the other family":      {func(*model.BlockPolicy) {}, &three, false, false},
		"the rest is reserved":     {func(p *model.BlockPolicy) { p.Reserved = []netip.Prefix{cidr("10.64.75.192/26")} }, &three, true, false},
		"some of it is reserved":   {func(p *model.BlockPolicy) { p.Reserved = []netip.Prefix{cidr("10.64.75.192/27")} }, &three, true, true},
		"the pool is disabled":     {func(p *model.BlockPolicy) { p.Pools[0].Disabled = true }, &three, true, false},
		"the pool is some pods'":   {func(p *model.BlockPolicy) { p.Pools[0].Selective = true }, &three, true, false},
		"the pool is other nodes'": {func(p *model.BlockPolicy) { p.Pools[0].Nodes = []string{"node-1"} }, &three, true, false},
	} {
		if got := model.Claimable(policy(tt.change), tt.s, "node-2", tt.v4); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
