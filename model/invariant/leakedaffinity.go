package invariant

import (
	"net/netip"

	"ipamsim/model"
)

// Codes of LeakedAffinity. The code of an affinity consists of its state and its error:
// "confirmed-without-node", "pending-deletion-block-of-another".
const (
	withoutNode          = "-without-node"          // of a node that is gone
	WithoutBlock         = "-without-block"         // for a block that is gone
	BlockWithoutAffinity = "block-without-affinity" // of its owner
)

// stateCode is an affinity's state as codes write it. What else stands in a datastore is
// no state.
func stateCode(state string) string {
	switch state {
	case model.Pending, model.Confirmed:
		return state
	case model.PendingDeletion:
		return "pending-deletion"
	}
	return "unknown"
}

func affinityKinds() []Kind {
	const still = "{node} still has a {state} affinity for block {block}, "
	out := []Kind{{BlockWithoutAffinity, "block {block} records {node} as its owner, which has no affinity for it"}}
	for _, state := range []string{model.Pending, model.Confirmed, model.PendingDeletion, ""} {
		out = append(out, Kind{stateCode(state) + withoutNode, still + "but that node no longer exists"})
		if state != model.Pending {
			out = append(out, Kind{stateCode(state) + WithoutBlock, still + "which does not exist"})
		}
	}
	released := stateCode(model.PendingDeletion)
	return append(out, Kind{released + "-" + blockOfAnother, still + "which is {owner}'s"}, Kind{released + "-" + blockWithoutOwner, still + "which has no owner"})
}

// LeakedAffinity is an affinity to a block that no node will use or release. The node in the
// affinity drops packets to addresses of the block without a route, whichever node has the block
// then.
//
// A pending affinity of an existing node is not a leak: it is left by a crash in the middle of a
// claim, its node drops no packets because of it, and the next ADD confirms or deletes it. An
// affinity of a deleted node to a block in which other nodes still have addresses is not a leak
// either: by design it is released with the last of them. A pendingDeletion affinity, which a crash
// in the middle of a release leaves, is a leak: its node drops packets for the block, whichever
// node has it by then.
//
// Source: libcalico-go/lib/ipam/ipam.go, ReleaseHostAffinities with mustBeEmpty;
// confd/pkg/backends/calico/client.go, updateCache, which skips pending ones only
// (v3.31).
var LeakedAffinity = define(Invariant{
	Name:     "leaked-affinity",
	Severity: model.Minor,
	Phase:    Quiescent,
	Doc:      "Once all is calm, every affinity is for a block and of a node that exist, and every block's owner has one.",
	Kinds:    affinityKinds(),
	Cause:    CauseRule{Start: FromWrite, Identity: Identity{Function: true}},
	Follows:  []string{"affinity-mismatch", "block-owner"},
	Effect:   "no node assigns the free addresses of the block",
	Keep:     KeepCollectors,
}, func(v View) []finding {
	if underWay(&v) {
		return nil
	}
	var out []finding
	all, used := blocks(&v), usedBlocks(&v)
	for i := range v.Record.Affinities {
		a := &v.Record.Affinities[i]
		b := blockOf(all, a.Block)
		if what := stale(&v, a, b, b != nil && b.Node == a.Node && used[b.Name]); what != "" {
			f := finding{
				code:    stateCode(a.State) + what,
				objects: []model.Ref{model.BlockOf(a.Block), nodeName(a.Node)},
				facts:   []model.Fact{model.NewFact("state", a.State)},
			}
			if b != nil {
				f.facts = append(f.facts, ownerFact(b))
			}
			out = append(out, f)
		}
	}
	return append(out, unaffine(&v, all)...)
})

// stale is the error of an affinity, as the second part of a code, or "".
func stale(v *View, a *model.Affinity, b *model.Pool, used bool) string {
	switch {
	case v.Truth.At-v.Past.standing(*a) <= young: // a claim or a release is under way
		return ""
	case !virtual(a.Node) && !v.Truth.Nodes[a.Node].Registered && used:
		return ""
	case !virtual(a.Node) && !v.Truth.Nodes[a.Node].Registered:
		return withoutNode
	case a.State == model.Pending:
		return ""
	case b == nil:
		return WithoutBlock
	case a.State == model.PendingDeletion && b.Node != a.Node:
		return "-" + ownedBy(b)
	}
	return ""
}

// unaffine lists the blocks whose owner has no affinity for them. The owner will not use them, and
// no other node may claim them.
func unaffine(v *View, all []*model.Pool) []finding {
	type pair struct {
		block netip.Prefix
		node  string
	}
	has := make(map[pair]bool, len(v.Record.Affinities))
	for i := range v.Record.Affinities {
		a := &v.Record.Affinities[i]
		has[pair{a.Block, a.Node}] = true
	}
	var out []finding
	for _, b := range all {
		if b.Node != "" && !has[pair{b.Range, b.Node}] {
			out = append(out, finding{
				code:    BlockWithoutAffinity,
				objects: []model.Ref{model.BlockOf(b.Range), nodeName(b.Node)},
			})
		}
	}
	return out
}
