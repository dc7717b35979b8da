package calico

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
)

// Release says which address to release. Handle, if it is set, has to be that of
// the allocation.
type Release struct {
	Addr     netip.Addr
	Handle   string
	sequence *uint64 // of the allocation, if the caller knows it
}

// Release is ReleaseIPs. It returns the requested addresses that are free now, including those that
// were free before. If one address of a block cannot be released because it was assigned again, no
// address of that block is, and the error is ErrOutOfDate.
//
// An address of a pool, even a disabled one, is searched in the block that the pool's present block
// size gives. An address without a pool is searched in all blocks, with etcdv3 only in those of the
// family of the first such address: upstream lists them once, and the Kubernetes datastore ignores
// the family.
//
// Source: libcalico-go/lib/ipam/ipam.go, ReleaseIPs and releaseIPsFromBlock.
func (a *Allocator) Release(all ...Release) (done []Release, err error) {
	byBlock := map[netip.Prefix][]Release{}
	var order []netip.Prefix
	var first netip.Addr // of no pool
	for _, r := range all {
		if a.poolOf(r.Addr, true) == nil {
			if !first.IsValid() {
				first = r.Addr
			}
			if a.datastore == Etcd && first.Is4() != r.Addr.Is4() {
				continue
			}
		}
		p, found := a.blockOf(r.Addr)
		if !found {
			continue
		}
		if byBlock[p] == nil {
			order = append(order, p)
		}
		byBlock[p] = append(byBlock[p], r)
	}
	call := map[string]int{} // in how many blocks a handle has some of them
	for _, p := range order {
		if b := a.block(p); b != nil {
			if e := a.releaseFrom(b, byBlock[p], call); e != nil {
				err = e
				continue
			}
		}
		done = append(done, byBlock[p]...)
	}
	for id, n := range call {
		if n > 1 && len(all) > 2 { // else upstream reads each handle afresh
			a.sharings[id].raced = true
		}
	}
	if !a.passing {
		a.settle()
	}
	return done, err
}

// blockOf is where an address is looked for.
func (a *Allocator) blockOf(addr netip.Addr) (netip.Prefix, bool) {
	if p := a.poolOf(addr, true); p != nil {
		return netip.PrefixFrom(addr, p.BlockBits).Masked(), true
	}
	var found []netip.Prefix
	for s := range a.sizes {
		p := netip.PrefixFrom(addr, s.bits).Masked()
		if s.v6 == addr.Is6() && a.block(p) != nil {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return netip.Prefix{}, false
	}
	return slices.MinFunc(found, func(x, y netip.Prefix) int {
		if a.affinityKey(x) < a.affinityKey(y) {
			return -1
		}
		return 1
	}), true
}

// releaseFrom releases addresses of one block, or none.
//
// Source: ipam_block.go, release. It counts at most one address a handle: the
// handle of a second one stays behind.
func (a *Allocator) releaseFrom(b *block, all []Release, call map[string]int) error {
	var held []netip.Prefix
	seen, handles := map[netip.Addr]Release{}, map[string]bool{}
	for _, r := range all {
		seen[r.Addr] = r // the last one of an address counts
	}
	for _, addr := range slices.SortedFunc(maps.Keys(seen), netip.Addr.Compare) {
		r, o := seen[addr], b.ordinal(addr)
		x := b.slots[o].handle
		if r.sequence != nil && *r.sequence != b.sequence(o) {
			return fmt.Errorf("%s: %w", addr, ErrOutOfDate)
		}
		if x == nil {
			continue
		}
		if r.Handle != "" && r.Handle != x.card.id {
			return fmt.Errorf("%s: %w", addr, ErrOutOfDate)
		}
		held = append(held, netip.PrefixFrom(addr, addr.BitLen()))
		handles[x.card.id] = true
	}
	if len(held) == 0 {
		return nil
	}
	var ordinals []uint16
	for _, p := range a.ordered(held) {
		o := b.ordinal(p.Addr())
		ordinals, b.slots[o].since = append(ordinals, o), 0
	}
	owner := b.owner
	a.put(b, ordinals...)
	for id := range handles {
		call[id]++
		a.share(id, b.prefix)
		if h := a.handles[id]; h != nil {
			a.discount(h, b, 1)
		}
	}
	a.recheck(owner, b.prefix)
	return nil
}

// ReleaseByHandle releases all that a handle has in the blocks that it counts. It
// returns ErrNotFound if there is no such handle, which the CNI plugin does not
// mind.
//
// Source: libcalico-go/lib/ipam/ipam.go, ReleaseByHandle; ipam_block.go,
// releaseByHandle.
func (a *Allocator) ReleaseByHandle(id string) error {
	h := a.handles[id]
	if h == nil || !h.exists() {
		return fmt.Errorf("handle %s: %w", id, ErrNotFound)
	}
	a.releaseHandle(h)
	return nil
}

func (a *Allocator) releaseHandle(h *handle) {
	var few [2]count // a pod has one of each family
	for _, c := range append(few[:0], h.counts...) {
		b := c.block
		if !b.exists {
			continue
		}
		var room [2]uint16
		ordinals := h.ordinals(room[:0], &c)
		if len(ordinals) == 0 {
			continue
		}
		owner := b.owner
		a.put(b, ordinals...)
		a.discount(h, b, len(ordinals))
		a.recheck(owner, b.prefix)
	}
}

// ordinals appends those that the handle has in a block, in ascending order.
func (h *handle) ordinals(out []uint16, c *count) []uint16 {
	if c.sure(h) && h.alone() {
		return append(out, c.last)
	}
	for o := range c.block.slots {
		if c.block.slots[o].handle == h {
			out = append(out, uint16(o))
		}
	}
	return out
}

// alone reports whether the handle has one address in each block that it counts,
// and none elsewhere.
func (h *handle) alone() bool {
	n := h.claims
	for i := range h.counts {
		if h.counts[i].sure(h) {
			n--
		}
	}
	return n == 0
}

// sure reports whether the address that was counted last is still the handle's.
func (c *count) sure(h *handle) bool {
	return c.block.exists && c.block.slots[c.last].handle == h
}

// recheck takes a block from its owner if it is empty and its pool does not select
// the owner any more.
//
// Source: libcalico-go/lib/ipam/ipam.go, ensureConsistentAffinity.
func (a *Allocator) recheck(owner *host, p netip.Prefix) {
	if owner == nil {
		return
	}
	if in := a.poolOf(p.Addr(), false); in != nil && in.nodes != nil && owner.known && !in.selects(owner) {
		_ = a.releaseAffinity(owner, p, true)
	}
}
