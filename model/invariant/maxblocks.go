package invariant

import "ipamsim/model"

// Codes of MaxBlocks.
const (
	limitInPool = "in-one-pool"      // the node has the allowed number of blocks in the pool of the new one
	limitOfAll  = "of-several-pools" // only with those of other pools they are
)

const tooManyBlocks = "{node} claimed block {block} at {at}, when it had {owned} blocks of its family and MaxBlocksPerHost was {limit}"

// MaxBlocks is a node that takes more blocks than the user allows, so that others
// get none. Blocks of both families are limited apart, and those of disabled pools
// or of pools that do not take the node any more do not count.
//
// Blocks that a node had when the limit was set may stay, and so may one that an
// ADD claims that had already begun.
//
// Source: libcalico-go/lib/ipam/ipam.go, autoAssign ("limit of %d blocks reached
// for this node", v3.31).
var MaxBlocks = define(Invariant{
	Name:     "max-blocks",
	Severity: model.Minor,
	Phase:    Always,
	Doc:      "No node claims more blocks than MaxBlocksPerHost.",
	Kinds:    []Kind{{limitInPool, tooManyBlocks}, {limitOfAll, tooManyBlocks}},
	Cause:    CauseRule{Start: FromWrite, Write: WriteRule{Limit: true}, Identity: Identity{Function: true}},
}, func(v View) []finding {
	if v.Past == nil {
		return nil
	}
	return v.Past.exceeded
})
