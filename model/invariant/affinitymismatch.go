package invariant

import "ipamsim/model"

// AffinityMismatch is a node that announces a block that it does not own, and drops packets in the
// block for which it has no route.
//
// Only confirmed affinities are checked. A pending one exists before its block, a pendingDeletion
// one after it, and a crash in between leaves it so. An affinity to a block that does not exist is
// not a mismatch; see leaked-affinity.
//
// Source: libcalico-go/lib/ipam/ipam_block_reader_writer.go, claimAffineBlock,
// releaseBlockAffinity (v3.31).
var AffinityMismatch = define(Invariant{
	Name:     "affinity-mismatch",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "A block that a node has a confirmed affinity for names that node as its owner.",
	Kinds: []Kind{
		{blockOfAnother, "{node} has a confirmed affinity for block {block}, but the block itself records {owner} as its owner"},
		{blockWithoutOwner, "{node} has a confirmed affinity for block {block}, but the block itself records no owner"},
	},
	Cause: CauseRule{Start: FromWrite},
}, func(v View) []finding {
	if len(v.Record.Affinities) == 0 {
		return nil
	}
	var out []finding
	rest := blocks(&v)
	for i := range v.Record.Affinities {
		a := &v.Record.Affinities[i]
		for len(rest) > 0 && rest[0].Range.Compare(a.Block) < 0 { // both are sorted by prefix
			rest = rest[1:]
		}
		var b *model.Pool
		if len(rest) > 0 && rest[0].Range == a.Block {
			b = rest[0]
		}
		if a.State != model.Confirmed || b == nil || b.Node == a.Node {
			continue
		}
		out = append(out, finding{
			code:    ownedBy(b),
			objects: []model.Ref{model.BlockOf(a.Block), nodeName(a.Node)},
			facts:   []model.Fact{ownerFact(b)},
		})
	}
	return out
})
