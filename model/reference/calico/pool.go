package calico

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
)

// Use is what an address is for.
type Use uint8

// Workload is a pod's address, Tunnel a node's own.
const (
	Workload Use = iota
	Tunnel
)

// Pool is an IPPool. The zero value of a field is upstream's default.
type Pool struct {
	Name              string
	Prefix            netip.Prefix
	BlockBits         int // prefix length of its blocks; 0: 26, or 122 for IPv6
	Disabled          bool
	Manual            bool  // assignmentMode: only for explicit requests
	Uses              []Use // none is all
	NodeSelector      string
	NamespaceSelector string
	IPIP, VXLAN       bool // a node has a device, and so an address, for it
}

// pool is a Pool with its defaults, ready to be asked.
type pool struct {
	Pool
	nodes, namespaces selector       // nil: all
	chosen            map[*host]bool // whether it selects a node, until labels change
	blocks, free      int            // blocks in it, and addresses of these that can be handed out
	made              int            // see reach
}

func (p *pool) v6() bool { return p.Prefix.Addr().Is6() }

func (p *pool) allows(u Use) bool { return len(p.Uses) == 0 || slices.Contains(p.Uses, u) }

// selects reports whether the node selector takes the node.
func (p *pool) selects(h *host) bool {
	if p.nodes == nil {
		return true
	}
	yes, known := p.chosen[h]
	if !known {
		yes = p.nodes(h.labels)
		p.chosen[h] = yes
	}
	return yes
}

// serves reports whether the namespace selector takes a namespace.
func (p *pool) serves(labels map[string]string) bool {
	return p.namespaces == nil || p.namespaces(labels)
}

// StorePool creates or replaces a pool without looking at others, as kubectl does.
//
// It returns ErrNotModelled for blocks of one address, for two pools of one prefix
// and for selectors that the reference cannot read.
func (a *Allocator) StorePool(p Pool) error {
	width := p.Prefix.Addr().BitLen()
	p.Prefix, p.BlockBits = p.Prefix.Masked(), cmp.Or(p.BlockBits, width-6)
	if p.BlockBits >= width || p.BlockBits < width-12 {
		return fmt.Errorf("pool %s: %w: blocks of /%d", p.Name, ErrNotModelled, p.BlockBits)
	}
	in := &pool{Pool: p, chosen: map[*host]bool{}}
	var err error
	if in.nodes, err = parseSelector(p.NodeSelector); err == nil {
		in.namespaces, err = parseSelector(p.NamespaceSelector)
	}
	if err != nil {
		return fmt.Errorf("pool %s: %w", p.Name, err)
	}
	for _, other := range a.pools {
		if other.Name != p.Name && other.Prefix == p.Prefix {
			return fmt.Errorf("pool %s: %w: the same as pool %s", p.Name, ErrNotModelled, other.Name)
		}
	}
	i, exists := a.findPool(p.Name)
	if exists {
		a.pools[i] = in
	} else {
		a.pools = slices.Insert(a.pools, i, in)
	}
	a.assess()
	return nil
}

func (a *Allocator) findPool(name string) (int, bool) {
	return slices.BinarySearchFunc(a.pools, name, func(p *pool, n string) int { return cmp.Compare(p.Name, n) })
}

// CreatePool is calicoctl's: it refuses a pool that exists (ErrExists), and one
// that overlaps another or that existing blocks of another size lie in
// (ErrConflict).
//
// Source: libcalico-go/lib/clientv3/ippool.go, Create and validateAndSetDefaults.
func (a *Allocator) CreatePool(p Pool) error {
	for _, other := range a.pools {
		if other.Name != p.Name && other.Prefix.Overlaps(p.Prefix) {
			return fmt.Errorf("pool %s: %w: pool %s", p.Name, ErrConflict, other.Name)
		}
	}
	bits := cmp.Or(p.BlockBits, p.Prefix.Addr().BitLen()-6)
	if p.Prefix.Bits() > bits && !p.Disabled {
		return fmt.Errorf("pool %s: %w: it is smaller than a block", p.Name, ErrConflict)
	}
	for s, shelf := range a.sizes {
		if s.bits != bits && s.v6 == p.Prefix.Addr().Is6() && shelf.any(p.Prefix) {
			return fmt.Errorf("pool %s: %w: blocks of /%d", p.Name, ErrConflict, s.bits)
		}
	}
	if _, exists := a.findPool(p.Name); exists {
		return fmt.Errorf("pool %s: %w", p.Name, ErrExists)
	}
	return a.StorePool(p)
}

// Pool is the pool of that name.
func (a *Allocator) Pool(name string) (Pool, bool) {
	i, ok := a.findPool(name)
	if !ok {
		return Pool{}, false
	}
	return a.pools[i].Pool, true
}

// RemovePool deletes a pool and nothing else, as kubectl does.
func (a *Allocator) RemovePool(name string) error {
	i, ok := a.findPool(name)
	if !ok {
		return fmt.Errorf("pool %s: %w", name, ErrNotFound)
	}
	a.pools = slices.Delete(a.pools, i, i+1)
	a.assess()
	return nil
}

// DeletePool deletes a pool as calicoctl does: nodes lose their affinities to the pool's
// blocks, so that empty blocks are deleted and the others have no owner.
//
// Source: libcalico-go/lib/clientv3/ippool.go, Delete; lib/ipam/ipam.go,
// ReleasePoolAffinities.
func (a *Allocator) DeletePool(name string) error {
	i, ok := a.findPool(name)
	if !ok {
		return fmt.Errorf("pool %s: %w", name, ErrNotFound)
	}
	a.pools[i].Disabled = true
	if err := a.releasePool(a.pools[i].Prefix); err != nil {
		return err
	}
	return a.RemovePool(name)
}

// poolOf is the first enabled pool, or with all the first pool, that an address
// lies in.
//
// Source: ipam_block_reader_writer.go, getPoolForIP.
func (a *Allocator) poolOf(addr netip.Addr, all bool) *pool {
	for _, p := range a.pools {
		if (all || !p.Disabled) && p.Prefix.Contains(addr) {
			return p
		}
	}
	return nil
}

// containing is the first of the pools that an address lies in.
func containing(pools []*pool, addr netip.Addr) *pool {
	for _, p := range pools {
		if p.Prefix.Contains(addr) {
			return p
		}
	}
	return nil
}
