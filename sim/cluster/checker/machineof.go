package checker

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model/route"
	"ipamsim/sim/ipam"
)

// MachineOf is a new machine with its own addresses and their subnets: from its manifest,
// or the n-th of a subnet that all share.
func MachineOf(obj *corev1.Node, n int, notes ipam.Annotations) Machine {
	m := Machine{Addr: route.DefaultAddr(n), Addr6: route.DefaultAddr6(n)}
	is := func(p netip.Prefix) {
		if m.Own = append(m.Own, p.Addr()); p.Addr().Is4() {
			m.Addr = p
		} else {
			m.Addr6 = p
		}
	}
	for _, a := range slices.Backward(obj.Status.Addresses) { // the first of a family counts
		if addr, err := netip.ParseAddr(a.Address); err == nil && a.Type == corev1.NodeInternalIP {
			bits := 64
			if addr.Is4() {
				bits = 24
			}
			is(netip.PrefixFrom(addr, bits))
		}
	}
	for _, k := range []string{notes.Node, notes.Node6} {
		if p, err := netip.ParsePrefix(obj.Annotations[k]); err == nil && p.Addr().Is4() == (k == notes.Node) {
			is(p)
		}
	}
	return m
}
