package invariant

import (
	"cmp"
	"fmt"
	"net/netip"

	"ipamsim/model"
)

// Codes of LeakedAffinity. Those of an affinity begin with its state, one of
// affinityStates.
const (
	withoutNode  = "-without-node"  // of a node that is gone
	withoutBlock = "-without-block" // for a block that is gone
	// blockOfAnother, blockOfNobody
	blockWithoutAffinity = "block-without-affinity" // of its owner
)

// affinityStates are the states of an affinity, as codes write them.
var affinityStates = map[string]string{model.Pending: "pending", model.Confirmed: "confirmed", model.PendingDeletion: "pending-deletion"}

// LeakedAffinity is a claim to a block that nobody will use or take back. The node
// it names drops what it has no route for inside the block, whoever has it then.
//
// A pending affinity of a node that exists is no leak: a crash in the middle of a
// claim leaves it, its node drops nothing for it, and the next ADD confirms or
// deletes it. Nor is one of a node that is gone, to a block in which others still
// have addresses: by design it is given back when the last of them is. A
// pendingDeletion one, which a crash in the middle of a release leaves, is a leak: its
// node drops packets for the block, whoever has it by then.
//
// Source: libcalico-go/lib/ipam/ipam.go, ReleaseHostAffinities with mustBeEmpty;
// confd/pkg/backends/calico/client.go, updateCache, which skips pending ones only
// (v3.31).
var LeakedAffinity = define(Invariant{
	Name:     "leaked-affinity",
	Severity: model.Minor,
	Phase:    Quiescent,
	Doc:      "Once all is calm, every affinity is for a block and of a node that exist, and every block's owner has one.",
}, func(v View) []finding {
	var out []finding
	all, used := blocks(&v), usedBlocks(&v)
	for i := range v.Record.Affinities {
		a := &v.Record.Affinities[i]
		b := blockOf(all, a.Block)
		if code, why := stale(&v, a, b, b != nil && b.Node == a.Node && used[b.Name]); code != "" {
			out = append(out, finding{
				code:    cmp.Or(affinityStates[a.State], "unknown") + code,
				message: fmt.Sprintf("%s still has a %s affinity for block %s%s", a.Node, a.State, a.Block, why),
				objects: []model.Ref{model.BlockOf(a.Block), nodeName(a.Node)},
			})
		}
	}
	return append(out, unaffine(&v, all)...)
})

// stale is what is wrong with an affinity, or "".
func stale(v *View, a *model.Affinity, b *model.Pool, used bool) (code, text string) {
	switch {
	case v.Truth.At-v.Past.standing(*a) <= young: // a claim or a release is under way
		return "", ""
	case !virtual(a.Node) && !v.Truth.Nodes[a.Node].Registered && used:
		return "", ""
	case !virtual(a.Node) && !v.Truth.Nodes[a.Node].Registered:
		return withoutNode, ", but there is no such node any more"
	case a.State == model.Pending:
		return "", ""
	case b == nil:
		return withoutBlock, ", which does not exist"
	case a.State == model.PendingDeletion && b.Node != a.Node:
		return "-" + ownedBy(b), ", which is " + ownerOf(b) + "'s"
	}
	return "", ""
}

// unaffine lists the blocks whose owner has no affinity for them. It will not use
// them and nobody else may claim them.
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
				code:    blockWithoutAffinity,
				message: fmt.Sprintf("block %s says that it is %s's, which has no affinity for it", b.Range, b.Node),
				objects: []model.Ref{model.BlockOf(b.Range), nodeName(b.Node)},
			})
		}
	}
	return out
}
