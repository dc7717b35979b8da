package invariant

import (
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
)

// noteDevices notes since when no claim backs the address of a node's own device.
func (p *Past) noteDevices(v *View) {
	if !slices.ContainsFunc(v.Truth.Sandboxes, func(s model.Sandbox) bool { return device(&s) }) {
		p.released = nil
		return
	}
	now := map[netip.Addr]time.Duration{}
	for _, h := range unbacked(*v) {
		if !device(h.sandbox) {
			continue
		}
		since, known := p.released[h.addr]
		if !known {
			since = v.Truth.At
		}
		now[h.addr] = since
	}
	p.released = now
}

// moves reports whether a device's address was released less than Overlap ago, and has been
// given to no other.
func (p *Past) moves(v *View, h *holding) bool {
	if p == nil || !device(h.sandbox) {
		return false
	}
	since, known := p.released[h.addr]
	return known && v.Truth.At-since <= Overlap &&
		!slices.ContainsFunc(v.Record.Claims, func(c model.Claim) bool { return c.Addr == h.addr })
}
