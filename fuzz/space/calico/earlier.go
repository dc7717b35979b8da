package calico

import (
	"net/netip"

	"ipamsim/fuzz/space"
)

// earlier draws, in one of eight worlds, a block that exists from the start: of a node, with an
// affinity without a type, as releases before v3.30 wrote it; or of a host that is no longer a
// node, if the world has a controller that collects such blocks.
//
// Source: projectcalico/calico#9221, which added the field type.
func (c *world) earlier() {
	own, p := c.Earlier(), c.pools[0]
	bits := p.prefix.Addr().BitLen() - p.bits
	if c.Doc.Spec.Datastore != "kubernetes" || bits > 6 || !own.Chance(1, 8) {
		return
	}
	host := space.Pick(own, c.Nodes...)
	if c.collected > 0 && own.Chance(1, 3) {
		host = "gone"
	}
	cidr := netip.PrefixFrom(p.prefix.Addr(), p.bits).String()
	free := make([]int, 1<<bits)
	for i := range free {
		free[i] = i
	}
	c.Add(
		object{"apiVersion": "crd.projectcalico.org/v1", "kind": "IPAMBlock", "metadata": object{"name": dashed(cidr)}, "spec": object{
			"cidr": cidr, "affinity": "host:" + host, "allocations": make([]any, len(free)), "unallocated": free,
			"attributes": []any{}, "deleted": false, "strictAffinity": false,
		}},
		object{"apiVersion": "crd.projectcalico.org/v1", "kind": "BlockAffinity", "metadata": object{"name": host + "-" + dashed(cidr)}, "spec": object{
			"cidr": cidr, "node": host, "state": "confirmed", "deleted": "false",
		}},
	)
}
