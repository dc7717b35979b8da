package calico

import (
	"errors"
	"net/netip"
	"slices"
)

// device is a kind of tunnel.
type device int

const (
	ipipDevice device = iota
	vxlanDevice
	vxlanDevice6
	devices int = iota
)

// handle is upstream's name for the device's allocation.
//
// Source: node/pkg/allocateip/allocateip.go, generateHandleAndAttributes.
func (d device) handle(node string) string {
	return [devices]string{"ipip-tunnel-addr-", "vxlan-tunnel-addr-", "vxlan-v6-tunnel-addr-"}[d] + node
}

// EnsureTunnels is one round of calico-node's allocator of tunnel addresses: the
// node's devices keep, get, exchange or lose their addresses, as the pools say. If
// one fails, those given out in this round are released and the process ends, to
// be started again; the error says why.
//
// Source: node/pkg/allocateip/allocateip.go, reconcileTunnelAddrs.
func (a *Allocator) EnsureTunnels(node string) error {
	h := a.hosts[node]
	if h == nil || !h.known {
		return ErrNoNode
	}
	now := h.tunnels // stored at the end, if all went well
	var given []device
	for d := range device(devices) {
		pools := a.encapsulating(h, d)
		if len(pools) == 0 {
			a.dropTunnel(h, d, &now)
			continue
		}
		got, err := a.ensureTunnel(h, d, pools, &now)
		if err != nil {
			for _, g := range given {
				_ = a.ReleaseByHandle(g.handle(node))
			}
			return err
		}
		if got {
			given = append(given, d)
		}
	}
	h.tunnels = now
	return nil
}

// encapsulating are the pools that a device gets its address from.
//
// Source: allocateip.go, determineEnabledPoolCIDRs.
func (a *Allocator) encapsulating(h *host, d device) (out []netip.Prefix) {
	for _, p := range a.pools {
		on := p.VXLAN && p.v6() == (d == vxlanDevice6)
		if d == ipipDevice {
			on = p.IPIP && !p.v6()
		}
		if on && !p.Disabled && p.allows(Tunnel) && p.selects(h) {
			out = append(out, p.Prefix)
		}
	}
	return out
}

// ensureTunnel reports whether the device got a new address. An address that the device
// already has stays if it is in one of the pools; an address that another owner has is not
// touched.
//
// Source: allocateip.go, ensureHostTunnelAddress and assignHostTunnelAddr.
func (a *Allocator) ensureTunnel(h *host, d device, pools []netip.Prefix, now *[devices]netip.Addr) (bool, error) {
	old, id := now[d], d.handle(h.name)
	x := a.assignment(old)
	if x == nil || x.card.id == id {
		if x != nil && slices.ContainsFunc(pools, func(p netip.Prefix) bool { return p.Contains(old) }) {
			return false, nil
		}
		if err := a.ReleaseByHandle(id); err != nil && !errors.Is(err, ErrNotFound) {
			return false, err
		}
	}
	q := Request{Node: h.name, Handle: id, Pools: pools, Use: Tunnel, V4: 1}
	if d == vxlanDevice6 {
		q.V4, q.V6 = 0, 1
	}
	v4, v6, err := a.AutoAssign(q)
	if err != nil {
		return false, err
	}
	got := append(v4, v6...)
	if len(got) == 0 {
		return false, ErrExhausted
	}
	now[d] = got[0]
	return true, nil
}

// dropTunnel takes the device's address away. If the handle is gone, but the
// address is still given to it, it is released by itself.
//
// Source: allocateip.go, removeHostTunnelAddr.
func (a *Allocator) dropTunnel(h *host, d device, now *[devices]netip.Addr) {
	old, id := now[d], d.handle(h.name)
	now[d] = netip.Addr{}
	if err := a.ReleaseByHandle(id); err == nil {
		return
	}
	if x := a.assignment(old); x != nil && x.card.id == id {
		_, _ = a.Release(Release{Addr: old, Handle: id})
	}
}

// assignment is the handle that an address of an enabled pool is given to, or nil.
//
// Source: libcalico-go/lib/ipam/ipam.go, GetAssignmentAttributes.
func (a *Allocator) assignment(addr netip.Addr) *handle {
	if !addr.IsValid() {
		return nil
	}
	p := a.poolOf(addr, false)
	if p == nil {
		return nil
	}
	b := a.block(netip.PrefixFrom(addr, p.BlockBits).Masked())
	if b == nil {
		return nil
	}
	return b.slots[b.ordinal(addr)].handle
}

// TunnelAddrs are the addresses in the node's object: for IPIP, for VXLAN and for VXLAN over IPv6;
// invalid if there is none.
func (a *Allocator) TunnelAddrs(node string) (ipip, vxlan, vxlan6 netip.Addr) {
	if h := a.hosts[node]; h != nil {
		return h.tunnels[ipipDevice], h.tunnels[vxlanDevice], h.tunnels[vxlanDevice6]
	}
	return
}
