package dump

import (
	"encoding/json"
	"math/bits"
	"net/netip"
	"slices"
)

// renumber gives nodes other addresses, in subnets as they share them now, and
// pools too if that is asked for.
func (d *draft) renumber(a *aliases) {
	taken := d.prefixes()
	if d.o.Addresses {
		a.pref = move(taken)
		taken = nil
		for _, m := range a.pref {
			taken = append(taken, m.to)
		}
	}
	for _, key := range []string{"IPv4Address", "IPv6Address"} {
		subnets := map[netip.Prefix][]netip.Addr{}
		for _, n := range d.nodes {
			if p, err := netip.ParsePrefix(n.Annotations[nodeAnnotations+key]); err == nil {
				subnets[p.Masked()] = append(subnets[p.Masked()], p.Addr())
			}
		}
		d.subnets(a, subnets, taken)
	}
}

// nodeRanges are where the nodes of an anonymised scenario may lie: the first that no
// pool touches.
var nodeRanges = map[bool][]string{
	true:  {"100.64.0.0/10", "198.18.0.0/15", "172.16.0.0/12", "10.0.0.0/8", "192.168.0.0/16", "11.0.0.0/8"},
	false: {"fd64::/16", "fd65::/16", "fd66::/16"},
}

func (d *draft) subnets(a *aliases, subnets map[netip.Prefix][]netip.Addr, taken []netip.Prefix) {
	var all []netip.Prefix
	for p := range subnets {
		all = append(all, p)
	}
	slices.SortFunc(all, netip.Prefix.Compare)
	var next netip.Addr
	for _, p := range all {
		if !next.IsValid() {
			next = free(p.Addr().Is4(), taken)
		}
		hosts := subnets[p]
		slices.SortFunc(hosts, netip.Addr.Compare)
		hosts = slices.Compact(hosts)
		size := max(8, bits.Len(uint(len(hosts)+2))) // the first address is the router's
		d.subnetBits(a, p, netip.PrefixFrom(next, next.BitLen()-size), hosts)
		next = offset(next, 1<<size)
	}
}

func (d *draft) subnetBits(a *aliases, from, to netip.Prefix, hosts []netip.Addr) {
	for i, h := range hosts {
		n := uint64(i + 2)
		if h == offset(from.Addr(), 1) {
			n = 1
		}
		a.addr[h] = offset(to.Addr(), n)
	}
	for _, n := range d.nodes {
		for _, key := range []string{"IPv4Address", "IPv6Address"} {
			if p, err := netip.ParsePrefix(n.Annotations[nodeAnnotations+key]); err == nil && p.Masked() == from {
				n.lengths = over(n.lengths, map[string]string{key: netip.PrefixFrom(a.addr[p.Addr()], to.Bits()).String()})
			}
		}
	}
}

func free(v4 bool, taken []netip.Prefix) netip.Addr {
	for _, s := range nodeRanges[v4] {
		p := netip.MustParsePrefix(s)
		if !slices.ContainsFunc(taken, p.Overlaps) {
			return p.Addr()
		}
	}
	return netip.MustParsePrefix(nodeRanges[v4][0]).Addr()
}

// prefixes are all ranges that addresses of the record lie in.
func (d *draft) prefixes() []netip.Prefix {
	var all []netip.Prefix
	add := func(texts ...string) {
		for _, s := range texts {
			if p, err := netip.ParsePrefix(s); err == nil {
				all = append(all, p.Masked())
			} else if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
				all = append(all, netip.PrefixFrom(a, a.BitLen()))
			}
		}
	}
	for _, p := range d.pools {
		add(p.CIDR)
	}
	for _, r := range d.reserving {
		add(r.ReservedCIDRs...)
	}
	for key := range d.blocks {
		add(key)
	}
	for _, x := range d.affinities {
		add(x.CIDR)
	}
	for _, h := range d.handles {
		add(keysOf(h.Block)...)
	}
	for _, p := range d.ranged {
		add(p.Range)
	}
	for _, p := range d.sliced {
		add(p.Spec.Range)
	}
	for _, n := range d.networks {
		_, c := ipamOf(n.config)
		for _, r := range append(c.Ranges, ipamRange{c.Range, c.Start, c.End, c.Exclude}) {
			add(append(r.Exclude, cidrOf(r.Range), r.Start, r.End)...)
		}
	}
	for _, cl := range d.claimsOf() {
		add(cl.addr.String())
	}
	for _, p := range slices.Concat(d.running, d.waiting, d.finished) {
		for _, x := range p.every() {
			add(x.String())
		}
	}
	for _, n := range d.nodes {
		for k, v := range n.Annotations {
			if k != nodeAnnotations+"IPv4Address" && k != nodeAnnotations+"IPv6Address" {
				add(v)
			}
		}
	}
	return all
}

// every is every address that a pod has.
func (r *running) every() []netip.Addr {
	all := slices.Clone(r.addrs)
	for _, x := range r.attached {
		all = append(all, x.addrs...)
	}
	return all
}

// move finds another place for each range, of the same length: those that lie in
// another one go with it.
func move(all []netip.Prefix) []moved {
	slices.SortFunc(all, func(a, b netip.Prefix) int {
		if a.Bits() != b.Bits() {
			return a.Bits() - b.Bits()
		}
		return a.Addr().Compare(b.Addr())
	})
	var out []moved
	next := map[bool]netip.Addr{true: netip.MustParseAddr("10.0.0.0"), false: netip.MustParseAddr("fd10::")}
	for _, p := range all {
		if slices.ContainsFunc(out, func(m moved) bool { return m.from.Overlaps(p) }) {
			continue
		}
		v4 := p.Addr().Is4()
		to, err := next[v4].Prefix(p.Bits())
		if err != nil || !to.Contains(next[v4]) {
			to = p
		}
		out = append(out, moved{p, to})
		next[v4] = after(to)
	}
	return out
}

// after is the first address behind a range.
func after(p netip.Prefix) netip.Addr {
	a := p.Masked().Addr().AsSlice()
	for i := range a { // its last address
		n := min(max(p.Bits()-8*i, 0), 8)
		a[i] |= ^(byte(0xff) << (8 - n))
	}
	last, _ := netip.AddrFromSlice(a)
	return last.Next()
}

// reduced is a CNI configuration with nothing but what Whereabouts reads.
func (a *aliases) reduced(config string) string {
	_, c := ipamOf(config)
	c.Range, c.Start, c.End, c.Exclude = a.rangeText(c.Range), a.text(c.Start), a.text(c.End), a.texts(c.Exclude)
	c.Name = a.get("name", c.Name)
	c.Ranges = slices.Clone(c.Ranges)
	for i := range c.Ranges {
		r := &c.Ranges[i]
		r.Range, r.Start, r.End, r.Exclude = a.rangeText(r.Range), a.text(r.Start), a.text(r.End), a.texts(r.Exclude)
	}
	out, _ := json.Marshal(object{"cniVersion": "0.3.1", "name": "anonymous", "type": "macvlan", "ipam": c})
	return string(out)
}
