package diagnosis

import (
	"cmp"
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports/imported"
)

// effects are what breaks for users, by invariant, as sentences without a period. What an
// invariant has no effect for that is the same in every cluster is not in it.
var effects = map[string]string{
	invariant.OverlappingBlocks.Name:   "two nodes can give one address to two pods",
	invariant.SliceConflict.Name:       "two nodes can give one address to two pods",
	invariant.DoubleClaim.Name:         "two pods can have the address: a connection to it reaches only one of them",
	invariant.DuplicateAddress.Name:    "a connection to the address reaches only one of those that have it",
	invariant.UnbackedSandbox.Name:     "the address can be given to a second pod",
	invariant.BlackholedAddress.Name:   "connections between that node and the pod time out",
	invariant.LeakedClaim.Name:         "the address is not given out again; when no other is left, pods cannot start",
	invariant.LeakedAffinity.Name:      "no node gives out the free addresses of the block",
	invariant.StarvedNode.Name:         "pods that start on the node take addresses of other nodes' blocks, or get none",
	invariant.UnassignedNode.Name:      "no pod can start on the node",
	invariant.DuplicateClusterIP.Name:  "clients of one Service reach the pods of the other one",
	invariant.UnbackedService.Name:     "the address can be given to a second Service",
	invariant.LeakedServiceClaim.Name:  "the address is not given to another Service",
	invariant.LeftoverReservation.Name: "the address is not given out again",
	imported.Exhausted:                 "pods that wait for an address do not start",
}

// effect is what a break of an invariant does to users, "" if that is not the same in every
// cluster.
func effect(x *model.Violation) string {
	if x.Invariant == imported.Exhausted && model.Named(x.Objects, model.RefService) != "" {
		return "clients cannot reach the Service from outside of the cluster"
	}
	return effects[x.Invariant]
}

// causing are invariants whose breaks make others break, before those others: findings are
// listed in this order, and what is not in it comes last.
var causing = []string{
	invariant.OverlappingBlocks.Name, invariant.SliceConflict.Name, invariant.BlockOwner.Name, invariant.AffinityMismatch.Name, invariant.StarvedNode.Name,
	invariant.DoubleClaim.Name, invariant.UnbackedSandbox.Name, invariant.DuplicateAddress.Name, invariant.BlackholedAddress.Name,
}

// causesFirst orders findings: the worst first, of those the causes before what follows from them.
func causesFirst(all []Finding) {
	rank := func(x *Finding) int {
		if i := slices.Index(causing, x.Invariant); i >= 0 {
			return i
		}
		return len(causing)
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(a.Severity.Rank()-b.Severity.Rank(), rank(&a)-rank(&b))
	})
}
