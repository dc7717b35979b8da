package calico

import (
	"hash/fnv"
	"math/big"
	"math/rand"
	"net/netip"

	"ipamsim/model"
)

// start is a pool as far as a node's place in it goes.
type start struct {
	pool netip.Prefix
	bits int
}

// startIn is the block of a pool where a node begins its search: a hash of its name, so that nodes
// begin at different blocks.
//
// Source: ipam_block_reader_writer.go, randomBlockGenerator and determineSeed,
// whose generator this has to be.
func (h *host) startIn(p *pool) netip.Addr {
	key := start{p.Prefix, p.BlockBits}
	if at, known := h.starts[key]; known {
		return at
	}
	width := p.Prefix.Addr().BitLen()
	power := func(bits int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(bits)) }
	hash := fnv.New32()
	_, _ = hash.Write([]byte(h.name))
	i := new(big.Int).Rand(rand.New(rand.NewSource(int64(hash.Sum32()))), power(p.BlockBits-p.Prefix.Bits()))
	i.Mul(i, power(width-p.BlockBits))
	raw := make([]byte, width/8)
	i.Add(i, new(big.Int).SetBytes(p.Prefix.Addr().AsSlice())).FillBytes(raw)
	at, _ := netip.AddrFromSlice(raw)
	h.starts[key] = at
	return at
}

// stretch is a part of a pool, both ends included.
type stretch = span

// walk is a pool in the order in which a node looks through it: from its own place
// to the end, then from the beginning.
func (h *host) walk(p *pool) []stretch {
	if p.Prefix.Bits() > p.BlockBits {
		return nil // upstream counts no block in it
	}
	at, first := h.startIn(p), p.Prefix.Addr()
	out := []stretch{{at, model.LastAddr(p.Prefix)}}
	if at != first {
		out = append(out, stretch{first, at.Prev()})
	}
	return out
}

// usable is the block that a node without room in its own claims next: the first
// on its way through the pools that does not exist, or exists, is its own and has
// a free address, though the node has lost its affinity to it.
//
// Source: ipam_block_reader_writer.go, findUsableBlock.
func (a *Allocator) usable(h *host, pools []*pool) (netip.Prefix, bool) {
	for _, p := range pools {
		s := a.sizes[size{p.v6(), p.BlockBits}]
		if s == nil {
			s = &blockIndex{}
		}
		for _, part := range h.walk(p) {
			found, ok := a.firstGap(s, part.first, part.last, p.BlockBits)
			for _, b := range h.owned {
				if x := b.prefix; b.free > 0 && x.Bits() == p.BlockBits && !x.Addr().Less(part.first) && !part.last.Less(x.Addr()) && (!ok || x.Addr().Less(found.Addr())) {
					found, ok = x, true
				}
			}
			if ok {
				return found, true
			}
		}
	}
	return netip.Prefix{}, false
}

// borrow takes addresses from any node's blocks until out has num.
//
// Source: ipam.go, autoAssign ("a random hunt").
func (a *Allocator) borrow(out []netip.Addr, h *host, pools []*pool, num int, k *Asked) []netip.Addr {
	for _, p := range pools {
		s := a.sizes[size{p.v6(), p.BlockBits}]
		if s == nil {
			continue
		}
		for _, part := range h.walk(p) {
			for len(out) < num {
				b := s.firstOpen(part.first, part.last)
				if b == nil {
					break
				}
				out = a.take(out, b, num-len(out), k)
			}
		}
	}
	return out
}
