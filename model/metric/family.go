package metric

import (
	"net/netip"

	"ipamsim/model"
)

// perFamily counts in IPv4 and in IPv6.
type perFamily [2]int

// add counts one of the family of an address.
func (f *perFamily) add(a netip.Addr) {
	if a.Is4() {
		f[0]++
	} else {
		f[1]++
	}
}

// families adds a point for each address family.
func (s *sampler) families(name string, counts perFamily) {
	for i, family := range []string{"IPv4", "IPv6"} {
		s.add(name, float64(counts[i]), "family", family)
	}
}

// dual reports whether a network has pools of both address families.
func dual(n *model.Network) bool { return n.Blocks != nil && n.Blocks.DualStack() }
