package calico

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/model"
)

// The binary searches find the same as upstream's walk through the pool, block by block.
func TestSearchesAreWalks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pool := netip.MustParsePrefix(rapid.SampledFrom([]string{"10.0.0.0/25", "fd00::/121"}).Draw(rt, "pool"))
		bits := pool.Bits() + rapid.IntRange(1, 5).Draw(rt, "bits")
		a := New(Etcd)
		a.SetNode("a", nil)
		if err := a.StorePool(Pool{Name: "p", Prefix: pool, BlockBits: bits}); err != nil {
			rt.Fatal(err)
		}
		var all []netip.Prefix
		for x := pool.Addr(); pool.Contains(x); x = model.LastAddr(all[len(all)-1]).Next() {
			all = append(all, netip.PrefixFrom(x, bits))
		}
		var reserved []netip.Prefix
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 0, 4).Draw(rt, "reserved") {
			reserved = append(reserved, netip.PrefixFrom(all[i].Addr(), rapid.IntRange(pool.Bits()+1, pool.Addr().BitLen()).Draw(rt, "length")))
		}
		a.Reserve(reserved...)
		for _, i := range rapid.SliceOf(rapid.IntRange(0, len(all)-1)).Draw(rt, "changes") {
			if b := a.block(all[i]); b == nil {
				a.claim(a.host("a"), all[i])
			} else if b.taken == 0 && rapid.Bool().Draw(rt, "fill") {
				a.take(nil, b, 1<<12, &Asked{handle: a.named("h"), who: &user{}})
			} else {
				a.dropAffinity(b.owner, all[i])
				a.remove(b)
			}
		}
		from := rapid.IntRange(0, len(all)-1).Draw(rt, "from")
		to := rapid.IntRange(0, len(all)-1).Draw(rt, "to")
		s := a.shelf(all[0])
		var gap, open netip.Prefix
		for i := to; i >= from; i-- {
			if b := a.block(all[i]); b == nil && a.allReserved(all[i]) == nil {
				gap = all[i]
			} else if b != nil && b.free > 0 {
				open = all[i]
			}
		}
		if got, ok := a.firstGap(s, all[from].Addr(), model.LastAddr(all[to]), bits); got != gap || ok != gap.IsValid() {
			rt.Errorf("the first gap from %s is %s, and not %s; blocks %v, reserved %v", all[from], gap, got, s.runs, a.reserved)
		}
		var got netip.Prefix
		if b := s.firstOpen(all[from].Addr(), all[to].Addr()); b != nil {
			got = b.prefix
		}
		if got != open {
			rt.Errorf("the first open block from %s is %s, and not %s", all[from], open, got)
		}
	})
}

// An address is reserved if it is in a reserved prefix, and a block is reserved if all of its
// addresses are, by any number of prefixes.
func TestReserved(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := New(Etcd)
		prefix := rapid.Custom(func(rt *rapid.T) netip.Prefix {
			base := netip.MustParseAddr(rapid.SampledFrom([]string{"10.0.0.0", "fd00::", "255.255.255.224", "0.0.0.0"}).Draw(rt, "base"))
			return netip.PrefixFrom(nth(base, rapid.IntRange(0, 31).Draw(rt, "n")), base.BitLen()-rapid.IntRange(0, 5).Draw(rt, "hosts")).Masked()
		})
		reserved := rapid.SliceOfN(prefix, 0, 6).Draw(rt, "reserved")
		a.Reserve(reserved...)
		p := prefix.Draw(rt, "block")
		all := true
		for x := p.Addr(); x.IsValid() && p.Contains(x); x = x.Next() {
			in := false
			for _, r := range reserved {
				in = in || r.Contains(x)
			}
			if a.isReserved(x) != in {
				rt.Errorf("%s: %v", x, !in)
			}
			all = all && in
		}
		if got := a.allReserved(p) != nil; got != all {
			rt.Errorf("%s as a whole: %v", p, got)
		}
	})
}

func nth(a netip.Addr, n int) netip.Addr {
	for range n {
		a = a.Next()
	}
	return a
}
