package invariant

import (
	"fmt"

	"ipamsim/model"
)

// OverlappingBlocks is two blocks that hold the same addresses. Each keeps its own
// books, so that both will give an address away.
var OverlappingBlocks = define(Invariant{
	Name:     "overlapping-blocks",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "No two blocks overlap.",
}, func(v View) []finding {
	var out []finding
	var wide *model.Pool
	// Prefixes overlap only by containment, and sorted the container comes first.
	for _, b := range blocks(&v) {
		if wide == nil || wide.Network != b.Network || !wide.Range.Overlaps(b.Range) {
			wide = b
			continue
		}
		out = append(out, finding{
			message: fmt.Sprintf("block %s of %s lies inside block %s of %s: both hand out the same addresses", b.Range, ownerOf(b), wide.Range, ownerOf(wide)),
			objects: []model.Ref{model.BlockOf(wide.Range), model.BlockOf(b.Range)},
		})
	}
	return out
})
