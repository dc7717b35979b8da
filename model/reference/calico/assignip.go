package calico

import (
	"fmt"
	"net/netip"
)

// AssignIP assigns a certain address, for a pod that requests it. It must be in an enabled pool.
// Its block is claimed if it does not exist, regardless of limits. If the block belongs to another
// node the address is borrowed, unless affinity is strict.
//
// Source: libcalico-go/lib/ipam/ipam.go, AssignIP (v3.31).
func (a *Allocator) AssignIP(q Request, addr netip.Addr) error {
	if err := a.checkHandle(q.Handle); err != nil {
		return err
	}
	k := a.ask(q)
	defer a.answered(&k)
	return a.assignIP(&k, addr)
}

func (a *Allocator) assignIP(k *Asked, addr netip.Addr) error {
	p := a.poolOf(addr, false)
	if p == nil {
		return fmt.Errorf("%w: %s lies in none that is enabled", ErrNoPool, addr)
	}
	prefix := netip.PrefixFrom(addr, p.BlockBits).Masked()
	k.host = a.host(k.who.node)
	h, b := k.host, a.block(prefix)
	defer a.forget(h)
	if b == nil {
		b = a.claim(h, prefix)
	}
	if a.Config.Strict && b.owner != h {
		return fmt.Errorf("%s: %w", addr, ErrNotAffine)
	}
	return a.assign(b, addr, k)
}
