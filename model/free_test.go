package model_test

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/model"
)

func ip(s string) netip.Addr     { return netip.MustParseAddr(s) }
func cidr(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func ranged(p, from, to string, exclude ...netip.Prefix) model.Range {
	return model.Range{Prefix: cidr(p), Start: ip(from), End: ip(to), Exclude: exclude}
}

func TestFree(t *testing.T) {
	four := ranged("10.0.0.0/29", "10.0.0.1", "10.0.0.4")
	whole := ranged("10.0.0.0/24", "10.0.0.1", "10.0.0.254")
	six := ranged("fd00::/64", "fd00::1", "fd00::ffff:ffff:ffff:ffff")
	slice := func(node, p string) model.Pool { return model.Pool{Name: node, Range: cidr(p), Node: node} }
	p29 := model.Pool{Name: "29", Range: cidr("10.0.0.0/29")}
	claim := func(pool, a string) model.Claim { return model.Claim{Pool: pool, Addr: ip(a)} }
	for _, c := range []struct {
		name string
		n    model.Network
		more []model.Network
		s    model.Snapshot
		want int
	}{
		{name: "empty", n: model.Network{Ranges: []model.Range{four}}, want: 4},
		{name: "no ranges", n: model.Network{}, want: 0},
		{name: "exclude", n: model.Network{Ranges: []model.Range{ranged("10.0.0.0/29", "10.0.0.1", "10.0.0.6", cidr("10.0.0.2/31"), cidr("10.0.0.2/32"))}}, want: 4},
		{name: "exclude reaches over the start", n: model.Network{Ranges: []model.Range{ranged("10.0.0.0/29", "10.0.0.1", "10.0.0.6", cidr("10.0.0.0/30"))}}, want: 3},
		{name: "exclude of the other family", n: model.Network{Ranges: []model.Range{ranged("10.0.0.0/29", "10.0.0.1", "10.0.0.6", cidr("fd00::/64"))}}, want: 6},
		{name: "claims", n: model.Network{Ranges: []model.Range{four}},
			s: model.Snapshot{Pools: []model.Pool{p29}, Claims: []model.Claim{claim("29", "10.0.0.1"), claim("29", "10.0.0.6")}}, want: 3},
		{name: "claims of another network_name", n: model.Network{Name: "x", Ranges: []model.Range{four}},
			s: model.Snapshot{Pools: []model.Pool{p29}, Claims: []model.Claim{claim("29", "10.0.0.1")}}, want: 4},
		{name: "claims of an overlapping pool, not guarded", n: model.Network{Ranges: []model.Range{whole}},
			s: model.Snapshot{Pools: []model.Pool{p29}, Claims: []model.Claim{claim("29", "10.0.0.1")}}, want: 254},
		{name: "claims of an overlapping pool, guarded", n: model.Network{Ranges: []model.Range{whole}, Overlap: true},
			s: model.Snapshot{Pools: []model.Pool{p29}, Claims: []model.Claim{claim("29", "10.0.0.1")}}, want: 253},
		{name: "reservations, not guarded", n: model.Network{Ranges: []model.Range{four}},
			s: model.Snapshot{Reservations: []model.Reservation{{Addr: ip("10.0.0.2")}}}, want: 4},
		{name: "reservations, guarded, and claimed too", n: model.Network{Ranges: []model.Range{four}, Overlap: true},
			s: model.Snapshot{Pools: []model.Pool{p29}, Claims: []model.Claim{claim("29", "10.0.0.2")},
				Reservations: []model.Reservation{{Addr: ip("10.0.0.2")}, {Addr: ip("10.0.0.3")}}}, want: 2},
		{name: "one of each range", n: model.Network{Ranges: []model.Range{whole, ranged("10.1.0.0/29", "10.1.0.1", "10.1.0.2")}}, want: 2},
		{name: "two ranges over the same addresses", n: model.Network{Ranges: []model.Range{four, four}}, want: 2},
		{name: "IPv6 saturates", n: model.Network{Ranges: []model.Range{six}}, want: model.FreeMax},
		{name: "IPv6 all but a little excluded", n: model.Network{Ranges: []model.Range{ranged("fd00::/64", "fd00::", "fd00::ffff:ffff:ffff:ffff",
			cidr("fd00::/65"), cidr("fd00:0:0:0:8000::/66"), cidr("fd00:0:0:0:c000::/67"), cidr("fd00:0:0:0:e000::/68"), cidr("fd00:0:0:0:f000::/69"))}}, want: model.FreeMax},
		{name: "IPv6 last two", n: model.Network{Ranges: []model.Range{ranged("fd00::/64", "fd00::ffff:ffff:ffff:fffe", "fd00::ffff:ffff:ffff:ffff")}}, want: 2},
		{name: "the whole of IPv6", n: model.Network{Ranges: []model.Range{ranged("::/0", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", cidr("8000::/1"))}}, want: model.FreeMax},
		{name: "dual stack is as tight as IPv4", n: model.Network{Ranges: []model.Range{six, four}}, want: 4},
		{name: "slice", n: model.Network{Ranges: []model.Range{whole}, Slice: 29},
			s: model.Snapshot{Pools: []model.Pool{slice("n", "10.0.0.8/29"), slice("other", "10.0.0.16/29")}, Claims: []model.Claim{claim("n", "10.0.0.9"), claim("other", "10.0.0.17")}}, want: 5},
		{name: "each node has a wire of its own", n: model.Network{Ranges: []model.Range{four}, Slice: 29, Local: true},
			s: model.Snapshot{Pools: []model.Pool{slice("n", "10.0.0.0/29"), slice("other", "10.0.0.0/29")}, Claims: []model.Claim{claim("n", "10.0.0.1"), claim("other", "10.0.0.2")}}, want: 3},
		{name: "two networks cut one range into slices: which is whose is not known", n: model.Network{Ranges: []model.Range{whole}, Slice: 30},
			s: model.Snapshot{Pools: []model.Pool{{Name: "a", Range: cidr("10.0.0.0/30"), Node: "n"}, {Name: "b", Range: cidr("10.0.0.4/30"), Node: "n"}},
				Claims: []model.Claim{claim("a", "10.0.0.1"), claim("b", "10.0.0.5"), claim("b", "10.0.0.6")}}, want: 0},
		{name: "no slice", n: model.Network{Ranges: []model.Range{whole}, Slice: 29},
			s: model.Snapshot{Pools: []model.Pool{slice("other", "10.0.0.16/29")}}, want: 0},
		{name: "a slice of the same range blocks a network without slices", n: model.Network{Ranges: []model.Range{whole}},
			more: []model.Network{{Key: "sliced", Ranges: []model.Range{whole}, Slice: 29}},
			s:    model.Snapshot{Pools: []model.Pool{slice("n", "10.0.0.8/29")}, Claims: []model.Claim{claim("n", "10.0.0.9")}}, want: 253},
	} {
		c.n.Key = "default/net"
		if got := model.Free(append([]model.Network{c.n}, c.more...), c.s, "default/net", "n"); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if got := model.Free(nil, model.Snapshot{}, "default/net", "n"); got != 0 {
		t.Errorf("unknown network: %d", got)
	}
}

// Free agrees with counting the addresses one by one, and for several ranges it
// never exceeds how many attachments really fit.
func TestFreeLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n model.Network
		n.Overlap = rapid.Bool().Draw(t, "overlap")
		for range rapid.IntRange(1, 3).Draw(t, "ranges") {
			n.Ranges = append(n.Ranges, drawRange(t))
		}
		s := drawRecord(t, n)
		got := model.Free([]model.Network{n}, s, "", "")
		used := map[netip.Addr]bool{}
		for _, c := range s.Claims {
			used[c.Addr] = used[c.Addr] || n.Overlap || n.Owns(&model.Pool{Range: s.Pools[poolOf(s, c.Pool)].Range})
		}
		for _, r := range s.Reservations {
			used[r.Addr] = used[r.Addr] || n.Overlap
		}
		most := attachments(n, used)
		disjoint := true
		for i := range n.Ranges {
			for j := range i {
				disjoint = disjoint && !n.Ranges[i].Prefix.Overlaps(n.Ranges[j].Prefix)
			}
		}
		if got > most || (disjoint && got != most) {
			t.Fatalf("Free is %d, but %d attachments fit (%+v, %+v)", got, most, n, s)
		}
	})
}

func drawRange(t *rapid.T) model.Range {
	base := rapid.SampledFrom([]string{"10.0.0.0", "10.0.0.16", "fd00::"}).Draw(t, "base")
	bits := rapid.IntRange(27, 30).Draw(t, "bits")
	if ip(base).Is6() {
		bits += 96
	}
	p := netip.PrefixFrom(ip(base), bits).Masked()
	all := enumerate(p)
	from := rapid.IntRange(0, len(all)-1).Draw(t, "from")
	r := model.Range{Prefix: p, Start: all[from], End: all[rapid.IntRange(from, len(all)-1).Draw(t, "to")]}
	for range rapid.IntRange(0, 3).Draw(t, "excludes") {
		x := netip.PrefixFrom(rapid.SampledFrom(all).Draw(t, "exclude"), rapid.IntRange(bits, ip(base).BitLen()).Draw(t, "length"))
		r.Exclude = append(r.Exclude, x)
	}
	return r
}

func drawRecord(t *rapid.T, n model.Network) model.Snapshot {
	s := model.Snapshot{Pools: []model.Pool{{Name: "0", Range: cidr("10.0.0.0/24")}}}
	all := enumerate(cidr("10.0.0.0/29"))
	for i, r := range n.Ranges {
		s.Pools = append(s.Pools, model.Pool{Name: string(rune('a' + i)), Range: r.Prefix})
		all = append(all, enumerate(r.Prefix)...)
	}
	for _, p := range s.Pools {
		for _, a := range rapid.SliceOfN(rapid.SampledFrom(all), 0, 12).Draw(t, "claims") {
			s.Claims = append(s.Claims, model.Claim{Pool: p.Name, Addr: a})
		}
	}
	for _, a := range rapid.SliceOfN(rapid.SampledFrom(all), 0, 4).Draw(t, "reservations") {
		s.Reservations = append(s.Reservations, model.Reservation{Addr: a})
	}
	return s
}

func enumerate(p netip.Prefix) []netip.Addr {
	var all []netip.Addr
	for a := p.Masked().Addr(); p.Contains(a); a = a.Next() {
		all = append(all, a)
	}
	return all
}

func poolOf(s model.Snapshot, name string) int {
	for i := range s.Pools {
		if s.Pools[i].Name == name {
			return i
		}
	}
	return -1
}

// attachments is the maximum number of attachments, each with its own address from every range:
// bipartite matching that adds one attachment to every range until it fails.
func attachments(n model.Network, used map[netip.Addr]bool) int {
	owner := map[netip.Addr]int{} // address → range that uses it
	for k := 0; ; k++ {
		for i := range n.Ranges {
			if !augment(n, used, owner, i, map[netip.Addr]bool{}) {
				return k
			}
		}
	}
}

func augment(n model.Network, used map[netip.Addr]bool, owner map[netip.Addr]int, i int, seen map[netip.Addr]bool) bool {
	for _, a := range enumerate(n.Ranges[i].Prefix) {
		if used[a] || seen[a] || !n.Ranges[i].Contains(a) {
			continue
		}
		seen[a] = true
		if j, taken := owner[a]; !taken || augment(n, used, owner, j, seen) {
			owner[a] = i
			return true
		}
	}
	return false
}

func BenchmarkFree(b *testing.B) {
	n := []model.Network{{Key: "k", Overlap: true, Ranges: []model.Range{ranged("10.0.0.0/22", "10.0.0.1", "10.0.3.254", cidr("10.0.1.0/28"))}}}
	s := model.Snapshot{Pools: []model.Pool{{Name: "p", Range: cidr("10.0.0.0/22")}}}
	a := ip("10.0.0.1")
	for range 250 {
		s.Claims = append(s.Claims, model.Claim{Pool: "p", Addr: a})
		s.Reservations = append(s.Reservations, model.Reservation{Addr: a})
		a = a.Next()
	}
	b.ReportAllocs()
	for b.Loop() {
		if model.Free(n, s, "k", "") != 1022-16-250 {
			b.Fatal("wrong")
		}
	}
}
