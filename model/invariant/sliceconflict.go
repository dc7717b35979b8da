package invariant

import (
	"fmt"
	"slices"

	"ipamsim/model"
)

// SliceConflict is two nodes that draw from the same addresses, each sure that
// its slice is its own and that it need not look at the other's claims.
var SliceConflict = define(Invariant{
	Name:     "slice-conflict",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No two node slices of one network overlap.",
}, func(v View) []finding {
	var out []finding
	var slice []*model.Pool
	for i := range v.Networks {
		n := &v.Networks[i]
		if n.Slice == 0 {
			continue
		}
		slice = slice[:0]
		for j := range v.Record.Pools {
			if p := &v.Record.Pools[j]; p.Node != "" && n.Owns(p) {
				slice = append(slice, p)
			}
		}
		out = append(out, overlaps(n, slice)...)
	}
	return out
})

// overlaps compares each slice with the widest one before it: prefixes overlap
// only by containment, and sorted by address the container comes first.
func overlaps(n *model.Network, slice []*model.Pool) []finding {
	var out []finding
	slices.SortStableFunc(slice, func(a, b *model.Pool) int { return a.Range.Masked().Compare(b.Range.Masked()) })
	var wide *model.Pool
	for _, p := range slice {
		if wide == nil || !wide.Range.Overlaps(p.Range) {
			wide = p
			continue
		}
		out = append(out, finding{
			message: fmt.Sprintf("node slices of network %s overlap: %s of %s (pool %s) and %s of %s (pool %s)",
				n.Key, wide.Range, wide.Node, wide.Name, p.Range, p.Node, p.Name),
			objects: []string{poolName(wide.Name), poolName(p.Name), nodeName(wide.Node), nodeName(p.Node)},
		})
	}
	return out
}
