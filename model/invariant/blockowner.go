package invariant

import (
	"fmt"

	"ipamsim/model"
)

// Codes of BlockOwner: what the block says.
const (
	twoAffinities        = "two-affinities"
	twoAffinitiesNoBlock = "two-affinities-without-block"
)

// BlockOwner is two nodes that are both sure of a block: both announce it, and
// both drop what they have no route for inside it.
//
// Upstream never passes through such a state. A claim is pending, then the block
// is created, then the claim is confirmed, and whoever finds the block taken
// deletes its own; a release is pendingDeletion before the block is touched.
//
// Source: libcalico-go/lib/ipam/ipam_block_reader_writer.go, claimAffineBlock,
// confirmAffinity, releaseBlockAffinity (v3.31).
var BlockOwner = define(Invariant{
	Name:     "block-owner",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No two nodes have a confirmed affinity for one block.",
}, func(v View) []finding {
	var out []finding
	var first *model.Affinity
	for i := range v.Record.Affinities {
		a := &v.Record.Affinities[i]
		if a.State != model.Confirmed {
			continue
		}
		if first != nil && first.Block == a.Block && first.Node != a.Node {
			code, says := saying(&v, a)
			out = append(out, finding{
				code:    code,
				message: fmt.Sprintf("block %s has two confirmed owners, %s and %s", a.Block, first.Node, a.Node) + says,
				objects: []model.Ref{model.BlockOf(a.Block), nodeName(first.Node), nodeName(a.Node)},
			})
		}
		first = a
	}
	return out
})

// saying is what the block itself says of its owner.
func saying(v *View, a *model.Affinity) (code, text string) {
	b := blockOf(blocks(v), a.Block)
	if b == nil {
		return twoAffinitiesNoBlock, "; the block itself does not exist"
	}
	return twoAffinities, "; the block itself says " + ownerOf(b)
}
