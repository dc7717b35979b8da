package route

import "net/netip"

// DefaultAddr is the address, with its subnet, of the n-th node, from 0, of those whose
// objects name none: they share a subnet that is nobody's pool (RFC 2544). Its first
// addresses are the fabric's own.
func DefaultAddr(n int) netip.Prefix {
	const first = 10
	n += first
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)}), 16)
}
