package whereabouts

import (
	"net/netip"
	"strings"
)

// Upstream makes names of objects out of addresses by writing a dash for every
// colon and slash. The functions here go back as far as that can be done: a dash
// of a network's name looks the same.

// denormalized reads an address as it is written in names.
func denormalized(s string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(strings.ReplaceAll(s, "-", ":"))
	return a.Unmap(), err == nil && a.Zone() == ""
}

// reserved takes the name of a reservation apart, [NETWORK-]ADDRESS. The longest
// end that is an address counts.
func reserved(name string) (network string, a netip.Addr, ok bool) {
	network, ok = split(name, func(s string) (ok bool) { a, ok = denormalized(s); return })
	return network, a, ok
}

// ranged takes the name of a pool apart, [NETWORK-][NODE-]RANGE.
func ranged(name string) (p netip.Prefix, ok bool) {
	_, ok = split(name, func(s string) bool {
		i := strings.LastIndexByte(s, '-')
		if i < 0 {
			return false
		}
		a, ok := denormalized(s[:i])
		if !ok {
			return false
		}
		var err error
		p, err = netip.ParsePrefix(a.String() + "/" + s[i+1:])
		return err == nil
	})
	return p, ok
}

// split finds the longest suffix of a name, beginning at its start or after a dash, that satisfies
// is, and returns the part before it.
func split(name string, is func(string) bool) (before string, ok bool) {
	for i := 0; ; {
		if is(name[i:]) {
			return strings.TrimSuffix(name[:i], "-"), true
		}
		j := strings.IndexByte(name[i:], '-')
		if j < 0 {
			return "", false
		}
		i += j + 1
	}
}
