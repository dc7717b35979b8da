package invariant

import (
	"slices"

	"ipamsim/model"
)

// DoubleClaim is a contradiction in the record: two pools whose ranges overlap assign one guarded
// address to two pods. Within one pool this is impossible, because an address is a key there.
//
// While the CNI call of one of the claims is under way, it may be about to find and undo the
// conflict. A claim without an owner was made manually, with unknown guards.
var DoubleClaim = define(Invariant{
	Name:     "double-claim",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "Where overlapping ranges are guarded, no two pools claim one address for different pods.",
	Kinds:    []Kind{{"", "{address} is claimed twice: in pool {first-pool} for {first} and in pool {second-pool} for {second}"}},
	Cause: CauseRule{
		Start: FromWrite, Rows: []model.RefKind{model.RefReservation}, Write: WriteRule{Unreserved: true},
		Identity: Identity{Group: AddressLost},
	},
	Follows:  []string{"overlap-reservation", "slice-conflict", "unbacked-sandbox"},
	Effect:   "two pods can have the address: a connection to it reaches only one of them",
	Decision: "which of the two keeps the address: the other one gets a new address only after its pod is deleted and its claim is released",
}, func(v View) []finding {
	guards := func(n model.Network) bool { return n.Overlap }
	if !slices.ContainsFunc(v.Networks, guards) || !contested(v.Record.Pools) {
		return nil
	}
	var out []finding
	first := make(map[guard]*model.Claim, len(v.Record.Claims))
	var unseen map[model.PodRef]bool
	p := pools{list: v.Record.Pools}
	for i := range v.Record.Claims {
		b := &v.Record.Claims[i]
		if anonymous(b) {
			continue
		}
		key := guard{b.Network, b.Addr}
		a := first[key]
		if a == nil {
			first[key] = b
			continue
		}
		if unseen == nil {
			unseen = busyPods(&v, isUnseen)
		}
		if a.Pool == b.Pool || a.Pod == b.Pod || calling(&v, a) || calling(&v, b) || unseen[a.Pod] || unseen[b.Pod] ||
			!guarded(&v, p.find(a.Pool)) || !guarded(&v, p.find(b.Pool)) {
			continue
		}
		out = append(out, finding{
			objects: []model.Ref{model.AddressOf(b.Addr), poolName(a.Pool), poolName(b.Pool), model.PodOf(a.Pod), model.PodOf(b.Pod)},
			facts: []model.Fact{
				model.NewFact("first-pool", poolName(a.Pool)), model.NewFact("first", model.PodOf(a.Pod)),
				model.NewFact("second-pool", poolName(b.Pool)), model.NewFact("second", model.PodOf(b.Pod)),
			},
		})
	}
	return out
})

// contested reports whether any two pools could hold one address. Mostly none
// can, and the claims need not be looked at.
func contested(p []model.Pool) bool {
	for i := range p {
		for j := range i {
			if p[i].Network == p[j].Network && p[i].Range.Overlaps(p[j].Range) {
				return true
			}
		}
	}
	return false
}

// guarded reports whether claims of a pool are guarded against other pools: a network of its name
// guards overlaps, and no network that uses this pool does not.
func guarded(v *View, p *model.Pool) bool {
	if p == nil {
		return false
	}
	some := false
	for i := range v.Networks {
		n := &v.Networks[i]
		if !n.Overlap && n.Owns(p) {
			return false
		}
		some = some || (n.Overlap && n.Name == p.Network)
	}
	return some
}
