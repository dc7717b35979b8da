package invariant

import "ipamsim/model"

// BlockContents is a block with incorrect lists. An address that is neither claimed nor free is
// lost, and an address that is listed as free although it is claimed will be assigned again. An
// owner to which no address refers is left from a released address; such owners accumulate until
// the block is deleted.
//
// A sequence number of an allocation may be left over: upstream itself leaves it when it releases
// by handle, and overwrites it at the next allocation.
//
// A number that orders allocations may stay behind: upstream itself leaves it when it releases by handle,
// and overwrites it at the next allocation.
//
// Source: libcalico-go/lib/ipam/ipam_block.go, autoAssign, release, releaseByHandle, deleteAttributes (v3.31).
var BlockContents = define(Invariant{
	Name:     "block-contents",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "A block lists each of its addresses once, as claimed or as free, and no owner without an address.",
	Kinds: []Kind{
		{"lost", "block {block} lists {count} of its addresses neither as claimed nor as free: no pod can get them"},
		{"twice", "block {block} lists {count} of its addresses as free that are claimed, or free already: they will be given twice"},
		{"ownerless", "block {block} keeps {count} owners of no address"},
	},
	Cause: CauseRule{Start: FromWrite},
}, func(v View) (out []finding) {
	for _, b := range blocks(&v) {
		for _, k := range []struct {
			code  string
			count int
		}{{"lost", b.Lost}, {"twice", b.Twice}, {"ownerless", b.Ownerless}} {
			if k.count > 0 {
				out = append(out, finding{code: k.code, objects: []model.Ref{model.BlockOf(b.Range)}, facts: []model.Fact{model.NewFact("count", k.count)}})
			}
		}
	}
	return out
})
