package calico

import (
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// releaseAffinity ends a node's claim to a block. An empty block is deleted with it; a block
// that is not empty loses its owner, unless mustBeEmpty forbids that (ErrNotEmpty).
//
// It returns ErrNotFound if there is no affinity, or no block: an affinity without a block
// stays. If another node owns the block, the affinity is deleted and the result is
// ErrConflict.
//
// Source: ipam_block_reader_writer.go, releaseBlockAffinity.
func (a *Allocator) releaseAffinity(h *host, p netip.Prefix, mustBeEmpty bool) error {
	if _, _, found := a.findAffinity(h, p); !found {
		return fmt.Errorf("affinity of %s to %s: %w", h.name, p, ErrNotFound)
	}
	b := a.block(p)
	if b == nil {
		return fmt.Errorf("block %s: %w", p, ErrNotFound)
	}
	if b.owner != nil && b.owner != h {
		a.dropAffinity(h, p)
		a.forget(h)
		return fmt.Errorf("block %s of %s: %w", p, b.owner.name, ErrConflict)
	}
	if mustBeEmpty && b.taken > 0 {
		return fmt.Errorf("block %s: %w", p, ErrNotEmpty)
	}
	a.dropAffinity(h, p)
	if b.taken == 0 {
		a.remove(b)
	} else {
		a.own(b, nil)
		a.wrote(b)
	}
	a.forget(h)
	return nil
}

// releaseHost ends all affinities of a node.
//
// Source: libcalico-go/lib/ipam/ipam.go, ReleaseHostAffinities.
func (a *Allocator) releaseHost(h *host, mustBeEmpty bool) (err error) {
	for f := range h.affinities {
		for _, x := range slices.Clone(h.affinities[f]) {
			if e := a.releaseAffinity(h, x.block.prefix, mustBeEmpty); e != nil && !passes(e) {
				err = e
			}
		}
	}
	return err
}

// releasePool ends all affinities to blocks of a pool. Upstream knows one node for
// each block, the last one by name, and looks again if that was not the owner.
//
// Source: libcalico-go/lib/ipam/ipam.go, ReleasePoolAffinities.
func (a *Allocator) releasePool(pool netip.Prefix) error {
	const tries = 3 // ipamKeyErrRetries
	for range tries {
		last, again := map[netip.Prefix]*host{}, false
		for _, h := range a.hosts {
			for _, x := range h.affinities[model.Family(pool.Addr())] {
				p := x.block.prefix
				if o := last[p]; pool.Contains(p.Addr()) && (o == nil || a.sorts(o, h, p)) {
					last[p] = h
				}
			}
		}
		for p, h := range last {
			if b := a.block(p); b != nil && b.owner != nil && b.owner != h {
				again = true
			}
			if e := a.releaseAffinity(h, p, false); e != nil && !passes(e) {
				return e
			}
		}
		if !again {
			return nil
		}
	}
	return fmt.Errorf("pool %s: %w: affinities of several nodes", pool, ErrConflict)
}

// sorts reports whether the datastore lists a node's affinity to a block before
// another node's.
func (a *Allocator) sorts(x, y *host, p netip.Prefix) bool {
	end := "/"
	if a.datastore == Kubernetes {
		end = "-" + a.affinityKey(p)
	}
	return x.name+end < y.name+end
}

// DeleteBlock deletes a block with its allocations, as an operator does. Affinities and handles
// stay.
func (a *Allocator) DeleteBlock(p netip.Prefix) error {
	b := a.block(p)
	if b == nil {
		return fmt.Errorf("block %s: %w", p, ErrNotFound)
	}
	a.remove(b)
	return nil
}

// DeleteAffinity deletes a node's affinity by hand. The block stays, and stays the
// node's.
func (a *Allocator) DeleteAffinity(node string, p netip.Prefix) error {
	h := a.hosts[node]
	if h == nil {
		return fmt.Errorf("affinity of %s: %w", node, ErrNotFound)
	}
	if _, _, found := a.findAffinity(h, p); !found {
		return fmt.Errorf("affinity of %s to %s: %w", node, p, ErrNotFound)
	}
	a.dropAffinity(h, p)
	a.forget(h)
	return nil
}
