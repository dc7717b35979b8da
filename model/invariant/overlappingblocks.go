package invariant

import "ipamsim/model"

// OverlappingBlocks is two blocks that hold the same addresses. Each keeps its own
// books, so that both will give an address away.
var OverlappingBlocks = define(Invariant{
	Name:     "overlapping-blocks",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "No two blocks overlap.",
	Kinds:    []Kind{{"", "block {inner} of {inner-owner} lies inside block {outer} of {outer-owner}: both hand out the same addresses"}},
	Cause:    CauseRule{Start: FromWrite, Identity: Identity{Function: true, Innermost: true}},
	Effect:   "two nodes can give one address to two pods",
	Decision: "which block stays. Pods with addresses from the other block need new ones before it can be deleted",
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
			objects: []model.Ref{model.BlockOf(wide.Range), model.BlockOf(b.Range)},
			facts: []model.Fact{
				model.NewFact("inner", model.BlockOf(b.Range)), model.NewFact("inner-owner", nodeName(b.Node)),
				model.NewFact("outer", model.BlockOf(wide.Range)), model.NewFact("outer-owner", nodeName(wide.Node)),
			},
		})
	}
	return out
})
