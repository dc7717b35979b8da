package calico

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
)

// Restore returns a datastore that holds the blocks, claims, affinities and handles of a
// record, which is either an Allocator's or imported. It does not correct the record: blocks
// may overlap, handles may miscount, affinities may lack their block. Set what a record does
// not contain afterwards: pools, Config, reservations and nodes with StorePool, Config,
// Reserve and SetNode, tunnels with SetTunnelAddrs and, with etcdv3, endpoints with
// SetEndpoint.
//
// If the free list of a block is unknown (model.Snapshot, Waiting), the lowest free address is
// assigned first, as in a new block. This changes which addresses are assigned, not how many.
//
// It returns ErrNotModelled for what no history of operations here leaves behind: affinities
// that are not confirmed or have no node, claims without a handle or outside of every block,
// blocks of other sizes than pools may have, and a free list that contradicts the block's
// claims.
func Restore(d Datastore, s model.Snapshot) (*Allocator, error) {
	a := New(d)
	byName := make(map[string]*block, len(s.Pools))
	for i := range s.Pools {
		b, err := a.restoreBlock(&s.Pools[i])
		if err != nil {
			return nil, err
		}
		byName[s.Pools[i].Name] = b
	}
	for i := range s.Claims {
		c := &s.Claims[i]
		if err := a.restoreClaim(byName[c.Pool], c); err != nil {
			return nil, fmt.Errorf("claim of %s in block %s: %w", c.Addr, c.Pool, err)
		}
	}
	waiting := make(map[netip.Prefix][]int, len(s.Waiting))
	for _, w := range s.Waiting {
		waiting[w.Block] = w.Free
	}
	for _, b := range a.sorted {
		free, known := waiting[b.prefix]
		if err := b.restoreWaiting(free, known); err != nil {
			return nil, fmt.Errorf("block %s: %w", b.prefix, err)
		}
		a.recount(b)
	}
	for _, x := range s.Affinities {
		if x.State != model.Confirmed || strings.Contains(x.Node, ":") {
			return nil, fmt.Errorf("affinity of %s to %s: %w: it is %s", x.Node, x.Block, ErrNotModelled, x.State)
		}
		a.addAffinity(a.host(x.Node), x.Block)
	}
	for _, h := range s.Handles {
		if err := a.checkHandle(h.ID); err != nil {
			return nil, err
		}
		for _, c := range h.Counts {
			a.count(a.named(h.ID), a.place(c.Block), c.Count)
		}
	}
	return a, nil
}

func (a *Allocator) restoreBlock(p *model.Pool) (*block, error) {
	width := p.Range.Addr().BitLen()
	if !p.Range.IsValid() || p.Range != p.Range.Masked() || p.Range.Bits() >= width || p.Range.Bits() < width-12 {
		return nil, fmt.Errorf("block %s: %w: of this size", p.Range, ErrNotModelled)
	}
	if a.block(p.Range) != nil || strings.Contains(p.Node, ":") {
		return nil, fmt.Errorf("block %s of %q: %w: there are two, or it is no node's", p.Range, p.Node, ErrNotModelled)
	}
	var h *host
	if p.Node != "" {
		h = a.host(p.Node)
	}
	return a.born(p.Range, h), nil
}

func (a *Allocator) restoreClaim(b *block, c *model.Claim) error {
	if err := a.checkHandle(c.Handle); err != nil {
		return err
	}
	if b == nil || !b.prefix.Contains(c.Addr) {
		return fmt.Errorf("%w: it is outside", ErrNotModelled)
	}
	o := b.ordinal(c.Addr)
	if b.slots[o].handle != nil {
		return ErrTaken
	}
	a.hold(b, o, &Asked{handle: a.named(c.Handle), who: &user{node: c.Node, pod: c.Pod, tunnel: c.Tunnel}})
	a.wrote(b)
	return nil
}

// restoreWaiting restores the free list, or creates that of a new block without the claimed
// addresses.
func (b *block) restoreWaiting(free []int, known bool) error {
	var lowest []int
	for o := range b.slots {
		if b.slots[o].handle == nil {
			lowest = append(lowest, o)
		}
	}
	if !known {
		free = lowest
	} else if !slices.Equal(lowest, slices.Sorted(slices.Values(free))) {
		return fmt.Errorf("%w: its free list is not what its claims leave", ErrNotModelled)
	}
	b.waiting = 0
	for _, o := range free {
		b.push(uint16(o))
	}
	return nil
}

// SetEndpoint stores what an ADD of a pod that runs already has stored with etcdv3:
// its WorkloadEndpoint, with its addresses. With the Kubernetes datastore, where the
// pod itself is that, nothing happens.
func (a *Allocator) SetEndpoint(q Request, addrs ...netip.Addr) {
	a.storeEndpoint(&Asked{handle: &handle{card: &card{id: q.Handle}}, who: &user{node: q.Node, pod: q.Pod}}, addrs)
}

// SetTunnelAddrs stores the addresses of a node object's devices, the zero Addr for none. It
// returns ErrNoNode for a missing node.
func (a *Allocator) SetTunnelAddrs(node string, ipip, vxlan, vxlan6 netip.Addr) error {
	h := a.hosts[node]
	if h == nil || !h.known {
		return fmt.Errorf("%s: %w", node, ErrNoNode)
	}
	h.tunnels = [devices]netip.Addr{ipip, vxlan, vxlan6}
	return nil
}
