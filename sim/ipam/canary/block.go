package canary

import (
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

// affinity is a node's claim to a block. It is confirmed from the start, because one write stores
// block and affinity.
type affinity struct {
	Block netip.Prefix `json:"block"`
	Node  string       `json:"node"`
}

// handle counts what one owner has in a block.
type handle struct {
	ID    string       `json:"id"`
	Block netip.Prefix `json:"block"`
	Count int          `json:"count"`
}

// handleOf is what a claim is counted under: its pod object, because a new
// sandbox of the same one takes the address over.
func handleOf(k claim) string {
	if k.UID != "" {
		return k.UID + "." + k.Interface
	}
	return k.Container + "." + k.Interface
}

// block finds or claims the block for a node's next address: a block of the node with room; or,
// below the limit, the first unclaimed block; or, if the node may borrow, any block with room.
func (l *ledger) block(p *policy, node string) (pool, error) {
	if f := bugs[p.bug].block; f != nil {
		if b, ok := f(l, p, node); ok {
			return b, nil
		}
	}
	room := func(b pool) bool { _, ok := lowest(p, b, l.taken); return ok }
	owned := 0
	for _, b := range l.Pools {
		if b.Node == node && p.span().Prefix.Contains(b.Range.Addr()) {
			if owned++; room(b) {
				return b, nil
			}
		}
	}
	full := fmt.Errorf("canary: no block of %s for %s: %w", p.span().Prefix, node, ipam.ErrExhausted)
	if owned >= p.network.Blocks.MaxBlocks {
		return pool{}, full
	}
	if b, ok := l.unclaimed(p); ok {
		b.Node = node
		l.claim(b)
		if f := bugs[p.bug].claimed; f != nil {
			f(l, p, b)
		}
		return b, nil
	}
	if i := slices.IndexFunc(l.Pools, room); i >= 0 && !p.network.Blocks.Strict {
		return l.Pools[i], nil
	}
	return pool{}, full
}

// claim enters a block with its owner's affinity.
func (l *ledger) claim(b pool) {
	b.Name = poolName("", b.Range)
	l.Pools = append(l.Pools, b)
	l.Affinities = append(l.Affinities, affinity{b.Range, b.Node})
}

// unclaimed is the first block that overlaps none and is not excluded as a whole.
func (l *ledger) unclaimed(p *policy) (pool, bool) {
	r := p.span()
	for b := netip.PrefixFrom(r.Prefix.Addr(), p.network.Blocks.Pools[0].BlockBits); b.Addr().IsValid() && r.Prefix.Contains(b.Addr()); {
		out := pool{Name: poolName("", b), Range: b}
		_, room := lowest(p, out, l.taken)
		if room && !slices.ContainsFunc(l.Pools, func(q pool) bool { return q.Range.Overlaps(b) }) {
			return out, true
		}
		b = netip.PrefixFrom(model.LastAddr(b).Next(), b.Bits())
	}
	return pool{}, false
}

// count changes what a claim's handle counts in its block.
func (l *ledger) count(k claim, by int) {
	at := slices.IndexFunc(l.Pools, func(b pool) bool { return b.Name == k.Pool })
	if at < 0 {
		return
	}
	block, id := l.Pools[at].Range, handleOf(k)
	i := slices.IndexFunc(l.Handles, func(h handle) bool { return h.ID == id && h.Block == block })
	if i < 0 {
		l.Handles = append(l.Handles, handle{ID: id, Block: block})
		i = len(l.Handles) - 1
	}
	if l.Handles[i].Count += by; l.Handles[i].Count <= 0 {
		l.Handles = slices.Delete(l.Handles, i, i+1)
	}
}

// releaseBlocks gives back the blocks without claims, so that no node is starved
// of what another does not use.
func (l *ledger) releaseBlocks() {
	for _, b := range slices.Clone(l.Pools) {
		has := func(a affinity) bool { return a.Block == b.Range }
		if slices.ContainsFunc(l.Affinities, has) && !slices.ContainsFunc(l.Claims, func(k claim) bool { return k.Pool == b.Name }) {
			l.Pools = slices.DeleteFunc(l.Pools, func(q pool) bool { return q == b })
			l.Affinities = slices.DeleteFunc(l.Affinities, has)
		}
	}
}
