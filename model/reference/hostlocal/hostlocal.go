// Package hostlocal computes the addresses that the host-local IPAM plugin may assign, from its
// configuration. It follows upstream's documentation and source, uses net/netip and none of
// upstream's code, so that an error in the plugin does not hide itself. TestConformanceConfig in
// sim/ipam/hostlocal compares the two.
//
// Source: github.com/containernetworking/plugins v1.10.0, plugins/ipam/host-local/README.md and
// backend/allocator, whose texts the errors have.
package hostlocal

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ipamsim/model"
)

// Config is a network's configuration as far as host-local cares.
type Config struct {
	Name string
	// Sets: a pod gets an address of each, of any range in it.
	Sets [][]Range
}

// Range is a part of a subnet. All addresses from the first to the last one are given away
// but the gateway's.
type Range struct {
	Subnet      netip.Prefix
	First, Last netip.Addr
	Gateway     netip.Addr // in the subnet
}

// Policy is a range in the form of the model.
func (r Range) Policy() model.Range {
	return model.Range{Prefix: r.Subnet, Start: r.First, End: r.Last, Exclude: []netip.Prefix{netip.PrefixFrom(r.Gateway, r.Gateway.BitLen())}}
}

// Read reads the configuration of the plugin that calls host-local. Ranges that a runtime
// asks for are before those of the configuration, and the one range of the old style is
// before the sets.
//
// Source: backend/allocator/config.go, LoadIPAMConfig.
func Read(text []byte) (Config, error) {
	var n written
	if err := json.Unmarshal(text, &n); err != nil {
		return Config{}, err
	}
	if n.IPAM == nil {
		return Config{}, errors.New("IPAM config missing 'ipam' key")
	}
	of := n.RuntimeConfig.IPs
	if n.Args != nil && n.Args.CNI != nil {
		of = append(of, n.Args.CNI.IPs...)
	}
	if slices.Contains(of, asked{none: true}) {
		return Config{}, errors.New("cannot understand ip: an address is missing")
	}
	all := n.RuntimeConfig.IPRanges
	if n.IPAM.Subnet.addr.IsValid() {
		all = append(all, []writtenRange{n.IPAM.writtenRange})
	}
	if all = append(all, n.IPAM.Ranges...); len(all) == 0 {
		return Config{}, errors.New("no IP ranges specified")
	}
	c := Config{Name: n.Name}
	for i, set := range all {
		ranges, err := complete(set)
		if err != nil {
			return Config{}, fmt.Errorf("invalid range set %d: %w", i, err)
		}
		c.Sets = append(c.Sets, ranges)
	}
	if old(n.CNIVersion) && (c.sets(true) > 1 || c.sets(false) > 1) {
		return Config{}, fmt.Errorf("CNI version %s does not support more than 1 address per family", n.CNIVersion)
	}
	for i, a := range c.Sets {
		for j, b := range c.Sets[i+1:] {
			if slices.ContainsFunc(a, func(r Range) bool { return slices.ContainsFunc(b, r.overlaps) }) {
				return Config{}, fmt.Errorf("range set %d overlaps with %d", i, i+j+1)
			}
		}
	}
	return c, nil
}

// sets is how many are of a family.
func (c *Config) sets(v4 bool) (n int) {
	for _, s := range c.Sets {
		if s[0].First.Is4() == v4 {
			n++
		}
	}
	return n
}

// old reports whether a version of CNI supports only one address of a family: versions before
// 0.3.0, and invalid versions.
func old(version string) bool {
	parts := [2]int{}
	for i, s := range strings.SplitN(version, ".", 3) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return true
		}
		if i < len(parts) {
			parts[i] = n
		}
	}
	return parts[0] == 0 && parts[1] < 3
}

// complete reads a set whose ranges have one family and do not overlap.
//
// Source: backend/allocator/range_set.go, Canonicalize.
func complete(set []writtenRange) (out []Range, err error) {
	if len(set) == 0 {
		return nil, errors.New("empty range set")
	}
	for _, w := range set {
		r, err := w.complete()
		if err != nil {
			return nil, err
		}
		if out = append(out, r); r.First.Is4() != out[0].First.Is4() {
			return nil, errors.New("mixed address families")
		}
	}
	for i, r := range out {
		if j := slices.IndexFunc(out[i+1:], r.overlaps); j >= 0 {
			return nil, fmt.Errorf("subnets %s-%s and %s-%s overlap", r.First, r.Last, out[i+1+j].First, out[i+1+j].Last)
		}
	}
	return out, nil
}

// contains reports whether an address is in the range.
func (r Range) contains(a netip.Addr) bool {
	return r.Subnet.Contains(a) && r.First.Compare(a) <= 0 && a.Compare(r.Last) <= 0
}

// overlaps reports whether the ends of one range are in the other.
func (r Range) overlaps(o Range) bool {
	return r.contains(o.First) || r.contains(o.Last) || o.contains(r.First) || o.contains(r.Last)
}

// complete is a range with its defaults: from the first address after the network's to the last
// one, for IPv4 without the broadcast address; the gateway is the first address.
//
// Source: backend/allocator/range.go, Canonicalize and lastIP (v1.10.0).
func (w *writtenRange) complete() (r Range, err error) {
	a, bits := w.Subnet.addr, w.Subnet.bits
	switch {
	case !a.IsValid():
		return r, errors.New("subnet: missing")
	case bits > a.BitLen()-2:
		//lint:ignore ST1005 upstream's words
		return r, fmt.Errorf("Network %s too small to allocate from", w.Subnet)
	case a.Is4In6():
		return r, errors.New("IPNet IP and Mask version mismatch")
	}
	r.Subnet = netip.PrefixFrom(a, bits).Masked()
	if r.Subnet.Addr() != a {
		//lint:ignore ST1005 upstream's words
		return r, fmt.Errorf("Network has host bits set. For a subnet mask of length %d the network address is %s", bits, r.Subnet.Addr())
	}
	r.First, r.Last, r.Gateway = a.Next(), model.LastAddr(r.Subnet), a.Next()
	if a.Is4() {
		r.Last = r.Last.Prev()
	}
	if w.Gateway.IsValid() {
		r.Gateway = w.Gateway.Unmap()
		if !r.Subnet.Contains(r.Gateway) {
			return r, fmt.Errorf("gateway %s not in network %s", r.Gateway, w.Subnet)
		}
	}
	first, last := w.RangeStart.Unmap(), w.RangeEnd.Unmap()
	if first.IsValid() {
		if !r.Subnet.Contains(first) || last.IsValid() && last.Is4() == first.Is4() && last.Less(first) {
			return r, fmt.Errorf("RangeStart %s not in network %s", first, w.Subnet)
		}
		r.First = first
	}
	if last.IsValid() {
		if !r.Subnet.Contains(last) || last.Less(r.First) {
			return r, fmt.Errorf("RangeEnd %s not in network %s", last, w.Subnet)
		}
		r.Last = last
	}
	if r.Last.Less(r.First) { // the last address is not set, and the first is IPv4's broadcast address
		return r, fmt.Errorf("RangeStart %s is after RangeEnd %s in network %s", r.First, r.Last, w.Subnet)
	}
	return r, nil
}

// written is the configuration as it is written.
type written struct {
	Name       string
	CNIVersion string
	IPAM       *struct {
		writtenRange
		Ranges  [][]writtenRange
		DataDir string
		Routes  []*struct {
			Dst subnet
			GW  address
		}
	}
	RuntimeConfig struct {
		IPRanges [][]writtenRange
		IPs      []asked
	}
	Args *struct {
		CNI *struct{ IPs []asked }
	}
}

type writtenRange struct {
	RangeStart, RangeEnd, Gateway address
	Subnet                        subnet
}

// address is an address without a zone; the zero value for "".
type address struct{ netip.Addr }

// UnmarshalText reads it.
func (a *address) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		return nil
	}
	if a.Addr, err = netip.ParseAddr(string(text)); err != nil || a.Zone() != "" {
		return fmt.Errorf("invalid IP address: %s", text)
	}
	return nil
}

// asked is an address that a pod is to get, with a length or without. Which pods ask for one
// is no part of the policy; that it can be read is.
type asked struct{ none bool }

// UnmarshalText reads it.
func (a *asked) UnmarshalText(text []byte) error {
	if a.none = len(text) == 0; a.none {
		return nil // reported after everything else could be parsed
	}
	_, err := netip.ParsePrefix(string(text))
	if x, no := netip.ParseAddr(string(text)); no == nil && x.Zone() == "" {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("invalid IP address %s", text)
	}
	return nil
}

// subnet is a prefix as it is written, with bits behind its length.
type subnet struct {
	addr netip.Addr
	bits int
}

// UnmarshalText reads it.
func (s *subnet) UnmarshalText(text []byte) error {
	p, err := netip.ParsePrefix(string(text))
	if err != nil {
		return fmt.Errorf("invalid CIDR address: %s", text)
	}
	s.addr, s.bits = p.Addr(), p.Bits()
	return nil
}

func (s subnet) String() string { return netip.PrefixFrom(s.addr, s.bits).String() }
