package invariant

import (
	"slices"

	"ipamsim/model"
)

// Codes of SliceConflict.
const (
	slicesOfPresent  = "of-present-nodes"   // both were registered all the time since they first drew: a slice was taken from an existing node
	slicesOfReplaced = "of-a-replaced-node" // or unknown
)

const overlappingSlices = "node slices of network {network} overlap: {first-slice} of {first-node} (pool {first}) and {second-slice} of {second-node} (pool {second})"

// SliceConflict is two nodes that draw from the same addresses. Each takes its slice for its own
// and does not read the other's claims.
//
// A pool outlives the slice for which it was created, so it proves nothing alone: node-2 is
// replaced by node-3, node-3 correctly gets the slice that is now free, and the pool of node-2
// stays.
var SliceConflict = define(Invariant{
	Name:     "slice-conflict",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No two node slices of one network overlap.",
	Kinds:    []Kind{{slicesOfReplaced, overlappingSlices}, {slicesOfPresent, overlappingSlices}},
	Cause:    CauseRule{Start: FromWrite},
	Effect:   "two nodes can give one address to two pods",
	Decision: "which node keeps its range. Pods of the other node need other addresses. The podCIDR of a Node is immutable: delete the Node and let it register again",
}, func(v View) []finding {
	var out []finding
	var slice []*model.Pool
	for i := range v.Networks {
		n := &v.Networks[i]
		if n.Slice == 0 || n.Local {
			continue
		}
		slice = slice[:0]
		for j := range v.Record.Pools {
			if p := &v.Record.Pools[j]; p.Node != "" && n.Owns(p) && drawn(&v, n, p) {
				slice = append(slice, p)
			}
		}
		out = append(out, overlaps(v.Past, n, slice)...)
	}
	return out
})

// drawn reports whether a node still draws from one of its pools for a network: a sandbox of the
// node has an address in it, or the node exists and has no other pool of that range. Two networks
// without a name may each be cut from the same range: the pools name no network then, and only
// sandboxes count.
func drawn(v *View, n *model.Network, p *model.Pool) bool {
	for i := range v.Truth.Sandboxes {
		s := &v.Truth.Sandboxes[i]
		if s.Node != p.Node {
			continue
		}
		for j := range s.Attachments {
			a := &s.Attachments[j]
			if a.Network == n.Key && slices.ContainsFunc(a.Addrs, p.Range.Contains) {
				return true
			}
		}
	}
	for i := range v.Networks {
		if other := &v.Networks[i]; other.Key != n.Key && other.Slice != 0 && other.Owns(p) {
			return false
		}
	}
	return v.Truth.Nodes[p.Node].Registered && !slices.ContainsFunc(v.Record.Pools, func(q model.Pool) bool {
		return q.Node == p.Node && q.Name != p.Name && q.Network == p.Network && slices.ContainsFunc(n.Ranges, func(r model.Range) bool {
			return r.Prefix.Contains(p.Range.Addr()) && r.Prefix.Contains(q.Range.Addr())
		})
	})
}

// overlaps compares each slice with the widest one before it: prefixes overlap
// only by containment, and sorted by address the container comes first.
func overlaps(past *Past, n *model.Network, slice []*model.Pool) []finding {
	var out []finding
	slices.SortStableFunc(slice, func(a, b *model.Pool) int { return a.Range.Masked().Compare(b.Range.Masked()) })
	var wide *model.Pool
	for _, p := range slice {
		if wide == nil || !wide.Range.Overlaps(p.Range) {
			wide = p
			continue
		}
		code := slicesOfReplaced
		if past != nil && past.stayed[wide.Name] && past.stayed[p.Name] {
			code = slicesOfPresent
		}
		out = append(out, finding{
			code:    code,
			objects: []model.Ref{poolName(wide.Name), poolName(p.Name), nodeName(wide.Node), nodeName(p.Node)},
			facts: []model.Fact{
				model.NewFact("network", networkName(n.Key)),
				model.NewFact("first", poolName(wide.Name)), model.NewFact("first-slice", rangeName(wide.Range)), model.NewFact("first-node", nodeName(wide.Node)),
				model.NewFact("second", poolName(p.Name)), model.NewFact("second-slice", rangeName(p.Range)), model.NewFact("second-node", nodeName(p.Node)),
			},
		})
	}
	return out
}

// noteStayed remembers of each node's pool whether the node has been registered ever since.
func (p *Past) noteStayed(v *View) {
	for i := range v.Record.Pools {
		pool := &v.Record.Pools[i]
		if pool.Node == "" {
			continue
		}
		registered := v.Truth.Nodes[pool.Node].Registered
		if stayed, known := p.stayed[pool.Name]; !known || stayed && !registered {
			p.stayed[pool.Name] = registered
		}
	}
}
