package calico

import (
	"fmt"
	"net/netip"

	"ipamsim/fuzz/space"
)

// ipPool is an IPPool at the start of the run.
type ipPool struct {
	name     string
	prefix   netip.Prefix
	bits     int // of its blocks
	manifest object
}

// drawPools draws one to three IPPools. The first one allows pods on every node; the others have any
// restrictions. With dual stack there is also one of IPv6.
func (c *world) drawPools() {
	for i := range space.Pick(c.Choices, 1, 1, 2, 1, 3) {
		p := c.pool(fmt.Sprintf("pool-%d", i+1), fmt.Sprintf("10.64.%d.0", 75+i), 32)
		if i > 0 {
			c.limit(p)
		}
		c.addPool(p)
	}
	if c.six {
		p := c.pool("six", "fd00:64:75::", 128)
		if size := space.Pick(c.Families(), sizes6...); size != [2]int{} {
			p.prefix, p.bits = netip.PrefixFrom(p.prefix.Addr(), 128-size[0]).Masked(), 128-size[1]
			spec := p.manifest["spec"].(object)
			spec["cidr"], spec["blockSize"] = p.prefix.String(), p.bits
		}
		c.addPool(p)
	}
}

func (c *world) addPool(p ipPool) {
	c.pools = append(c.pools, p)
	c.Add(p.manifest)
}

// sizes are the host bits of a pool and of its blocks: mostly two to sixteen blocks of two to eight
// addresses, sometimes blocks of one address, a pool of one block, or a common size.
var sizes = [][2]int{{4, 2}, {4, 1}, {4, 3}, {5, 2}, {5, 3}, {3, 1}, {3, 0}, {4, 4}, {6, 4}, {8, 6}}

// sizes6 are those of IPv6 pools, none in half of the draws: mostly a /64 or /48 with blocks of 64
// addresses, as is common, up to a /32; a few of one block or of one address.
var sizes6 = [][2]int{{}, {}, {}, {}, {64, 6}, {80, 6}, {16, 6}, {96, 6}, {12, 12}, {1, 0}}

// pool draws a pool. bits is the length of an address of its family.
func (c *world) pool(name, at string, bits int) ipPool {
	size := space.Pick(c.Choices, sizes...)
	p := ipPool{name: name, bits: bits - size[1], prefix: netip.PrefixFrom(netip.MustParseAddr(at), bits-size[0])}
	spec := object{"cidr": p.prefix.String(), "blockSize": p.bits, "nodeSelector": "all()", "natOutgoing": c.Chance(1, 2)}
	switch n := c.Int(6); {
	case n == 1 && bits == 32 && !c.tunnels:
		spec["ipipMode"] = space.Pick(c.Choices, "Always", "CrossSubnet")
	case n == 2 || c.tunnels:
		spec["vxlanMode"] = space.Pick(c.Choices, "Always", "CrossSubnet")
	}
	if spec["vxlanMode"] == "Always" && c.Chance(1, 3) { // VXLAN needs no BGP
		spec["disableBGPExport"] = true
	}
	p.manifest = object{"apiVersion": "projectcalico.org/v3", "kind": "IPPool", "metadata": object{"name": name}, "spec": spec}
	if c.Chance(1, 3) {
		p.manifest["apiVersion"] = "crd.projectcalico.org/v1"
	}
	return p
}

// limit draws a restriction of a pool.
func (c *world) limit(p ipPool) {
	spec := p.manifest["spec"].(object)
	kind := c.Int(7)
	if (kind == 1 || kind == 2) && !c.tunnels { // VXLAN needs a pool that tunnels may use
		delete(spec, "vxlanMode")
		delete(spec, "disableBGPExport")
	}
	switch kind {
	case 0:
		spec["nodeSelector"] = space.Pick(c.Choices, `zone == "a"`, `zone != "a"`, `!has(zone)`)
	case 1:
		spec["namespaceSelector"] = space.Pick(c.Choices, `team == "blue"`, `kubernetes.io/metadata.name == "default"`)
		spec["allowedUses"] = []string{"Workload"} // upstream insists: a tunnel has no namespace
	case 2:
		spec["allowedUses"] = space.Pick(c.Choices, []string{"Tunnel"}, []string{"Workload"}, []string{"Workload", "Tunnel"})
	case 3:
		spec["assignmentMode"] = space.Pick(c.Choices, "Manual", "Automatic")
	case 4:
		spec["disabled"] = true
	}
}

// anyPool draws one of the pools.
func (c *world) anyPool() ipPool { return space.Pick(c.Choices, c.pools...) }

// block draws one of the first sixteen blocks of a pool.
func (c *world) block(p ipPool) netip.Prefix {
	a := p.prefix.Addr()
	for range c.Int(1 << min(4, p.bits-p.prefix.Bits())) {
		for range 1 << (a.BitLen() - p.bits) {
			a = a.Next()
		}
	}
	return netip.PrefixFrom(a, p.bits)
}

// address draws one of the first sixteen addresses of a pool.
func (c *world) address(p ipPool) netip.Addr {
	a := p.prefix.Addr()
	for range c.Int(1 << min(4, a.BitLen()-p.prefix.Bits())) {
		a = a.Next()
	}
	return a
}
