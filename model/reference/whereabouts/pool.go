package whereabouts

import (
	"net/netip"

	"ipamsim/model"
)

// pool is an IPPool: the allocations of a range, or of a node's slice.
type pool struct {
	name, network, node string
	prefix              netip.Prefix

	used       used
	claims     map[uint64]claim   // by offset
	pods       map[podKey]uint64  // the offset of a pod's interface
	containers map[contKey]uint64 // of a container's
}

type claim struct {
	pod              model.PodRef
	container, iface string
}

type podKey struct {
	pod   model.PodRef
	iface string
}

type contKey struct{ container, iface string }

func newPool(name, network, node string, prefix netip.Prefix) *pool {
	return &pool{name: name, network: network, node: node, prefix: prefix,
		claims: map[uint64]claim{}, pods: map[podKey]uint64{}, containers: map[contKey]uint64{}}
}

// put writes an allocation, over the one that was there. It is false if the
// container has another one already, for another pod.
func (p *pool) put(x uint64, c claim) bool {
	k := contKey{c.container, c.iface}
	if y, ok := p.containers[k]; ok && y != x {
		return false
	}
	if old, ok := p.claims[x]; ok {
		delete(p.containers, contKey{old.container, old.iface})
	} else {
		p.used.add(x)
	}
	p.claims[x], p.pods[podKey{c.pod, c.iface}], p.containers[k] = c, x, x
	return true
}

func (p *pool) remove(x uint64) {
	c := p.claims[x]
	delete(p.claims, x)
	delete(p.pods, podKey{c.pod, c.iface})
	delete(p.containers, contKey{c.container, c.iface})
	p.used.remove(x)
}

func (p *pool) claim(x uint64) model.Claim {
	c := p.claims[x]
	return model.Claim{Pool: p.name, Network: p.network, Addr: at(p.prefix.Addr(), x), Pod: c.pod, Container: c.container, Interface: c.iface}
}
