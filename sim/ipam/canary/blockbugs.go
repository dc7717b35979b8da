package canary

import (
	"net/netip"
	"slices"

	"ipamsim/model"
)

// The bugs of networks with blocks. The first block is always claimed rightly.

// disown removes the owner from the block, while the owner keeps handing out addresses of it.
func disown(l *ledger, _ *policy, b pool) {
	if i := slices.IndexFunc(l.Pools, func(q pool) bool { return q.Name == b.Name }); i > 0 {
		l.Pools[i].Node = ""
	}
}

// loseAddress removes one address from the block's lists.
func loseAddress(l *ledger, _ *policy, b pool) {
	if i := slices.IndexFunc(l.Pools, func(q pool) bool { return q.Name == b.Name }); i > 0 {
		l.Pools[i].Lost++
	}
}

// shareBlock makes the node confirm an affinity for every other node's block, too.
func shareBlock(l *ledger, _ *policy, b pool) {
	for _, a := range slices.Clone(l.Affinities) {
		if a.Node != b.Node {
			l.Affinities = append(l.Affinities, affinity{a.Block, b.Node})
		}
	}
}

// reachOut leaves an affinity for a block that never existed, after the end of the range, where
// no other node claims it.
func reachOut(l *ledger, p *policy, b pool) {
	out := netip.PrefixFrom(model.LastAddr(p.span().Prefix).Next(), b.Range.Bits())
	if out.IsValid() && !slices.ContainsFunc(l.Affinities, func(a affinity) bool { return a.Block == out }) {
		l.Affinities = append(l.Affinities, affinity{out, b.Node})
	}
}

// claimAnother claims one more block than needed, regardless of the limit.
func claimAnother(l *ledger, p *policy, b pool) {
	if next, ok := l.unclaimed(p); ok {
		next.Node = b.Node
		l.claim(next)
	}
}

// hoard claims all that is left.
func hoard(l *ledger, p *policy, b pool) {
	for next, ok := l.unclaimed(p); ok; next, ok = l.unclaimed(p) {
		next.Node = b.Node
		l.claim(next)
	}
}

// releaseNoBlocks keeps the blocks without claims.
func releaseNoBlocks(l *ledger, gone func(claim) bool) { l.releaseClaims(gone) }

// halve makes a smaller block inside the one just claimed, as if the pool had
// another block size now.
func halve(l *ledger, _ *policy, b pool) {
	if b.Range.Bits() < b.Range.Addr().BitLen() {
		b.Range = netip.PrefixFrom(b.Range.Addr(), b.Range.Bits()+1)
		l.claim(b)
	}
}

// forgetHandle does not count the claim.
func forgetHandle(l *ledger, _ *policy, _ pool, k claim) { l.count(k, -1) }

// borrowFirst hands out of another node's block if there is one with room.
func borrowFirst(l *ledger, p *policy, node string) (pool, bool) {
	i := slices.IndexFunc(l.Pools, func(b pool) bool {
		_, room := lowest(p, b, l.taken)
		return b.Node != node && room
	})
	if i < 0 {
		return pool{}, false
	}
	return l.Pools[i], true
}
