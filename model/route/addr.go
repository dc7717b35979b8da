package route

import "net/netip"

// DefaultAddr returns the IPv4 address, with its subnet, of the n-th node, from 0, among the
// nodes whose objects have none. They share a subnet that no pool contains (RFC 2544). Its
// first addresses belong to the fabric.
func DefaultAddr(n int) netip.Prefix {
	n += firstNode
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)}), 16)
}

// DefaultAddr6 is the same of IPv6 (RFC 5180).
func DefaultAddr6(n int) netip.Prefix {
	n += firstNode
	a := netip.MustParseAddr("2001:2::").As16()
	a[14], a[15] = byte(n>>8), byte(n)
	return netip.PrefixFrom(netip.AddrFrom16(a), 64)
}

const firstNode = 10
