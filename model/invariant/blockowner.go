package invariant

import "ipamsim/model"

// Codes of BlockOwner.
const (
	twoAffinities        = "two-affinities" // for a block that exists
	twoAffinitiesNoBlock = "two-affinities-without-block"
)

// BlockOwner is two nodes with a confirmed claim to one block: both announce it, and both drop
// packets in the block for which they have no route.
//
// Upstream never passes through such a state. A claim is pending, then the block is created, then
// the claim is confirmed, and a node that finds the block taken deletes its own claim. A release
// marks the affinity as pendingDeletion before it changes the block.
//
// Source: libcalico-go/lib/ipam/ipam_block_reader_writer.go, claimAffineBlock,
// confirmAffinity, releaseBlockAffinity (v3.31).
var BlockOwner = define(Invariant{
	Name:     "block-owner",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No two nodes have a confirmed affinity for one block.",
	Kinds: []Kind{
		{twoAffinities, "block {block} has two confirmed owners, {first} and {second}; the block itself records {owner}"},
		{twoAffinitiesNoBlock, "block {block} has two confirmed owners, {first} and {second}; the block itself does not exist"},
	},
	Cause: CauseRule{Start: FromWrite},
}, func(v View) []finding {
	var out []finding
	var first *model.Affinity
	for i := range v.Record.Affinities {
		a := &v.Record.Affinities[i]
		if a.State != model.Confirmed {
			continue
		}
		if first != nil && first.Block == a.Block && first.Node != a.Node {
			code, facts := twoAffinitiesNoBlock, []model.Fact{model.NewFact("first", nodeName(first.Node)), model.NewFact("second", nodeName(a.Node))}
			if b := blockOf(blocks(&v), a.Block); b != nil {
				code, facts = twoAffinities, append(facts, ownerFact(b))
			}
			out = append(out, finding{
				code:    code,
				objects: []model.Ref{model.BlockOf(a.Block), nodeName(first.Node), nodeName(a.Node)},
				facts:   facts,
			})
		}
		first = a
	}
	return out
})
