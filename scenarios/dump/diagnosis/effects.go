package diagnosis

import (
	"cmp"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports/imported"
	"ipamsim/scenarios/dump/reported"
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

// toDecide is what the operator has to decide of findings for which no remediation is
// simulated, by code or by invariant, as sentences without a period. None of them says that
// a command is safe.
//
// Source of what cannot be changed: pkg/apis/core/validation, ValidateServiceUpdate and
// ValidateNodeUpdate; of the repair, pkg/registry/core/service/ipallocator/controller,
// RepairIPAddress; of the events, pkg/controller/nodeipam/ipam, AllocateOrOccupyCIDR
// (Kubernetes v1.37.2).
var toDecide = map[string]string{
	invariant.OverlappingBlocks.Name:        "which of the blocks stays. Pods that have addresses of the other one need new ones before it can be deleted",
	invariant.SliceConflict.Name:            "which node keeps its range. Pods of the other one need other addresses; the podCIDR of a Node cannot be changed, only that of a Node that is deleted and registered again",
	invariant.OutOfPool.Name:                "which ranges the cluster has, or whether what has this address gets another one; the podCIDR of a Node cannot be changed, only that of a Node that is deleted and registered again",
	invariant.UnassignedNode.Name:           "why kube-controller-manager gives the node no podCIDR: where it has tried, the events of the Node say CIDRNotAvailable or CIDRAssignmentFailed",
	invariant.DoubleClaim.Name:              "which of the two keeps the address: the other one gets another only when its pod is deleted and its claim is gone",
	invariant.OverlapReservation.Name:       "which pod keeps the address: the other one gets another only when it is deleted and its claim is gone",
	invariant.DuplicateClusterIP.Name:       "which Service keeps the address. The cluster IP of a Service cannot be changed: the other one has to be deleted and created again",
	invariant.UnbackedService.Name:          "nothing yet: kube-apiserver looks every 3 minutes and creates the IPAddress. If a later dump lacks it as well, see the log of kube-apiserver",
	invariant.LeakedServiceClaim.Name:       "nothing yet: kube-apiserver looks every 3 minutes and deletes the IPAddress. If a later dump has it as well, see the log of kube-apiserver",
	invariant.DuplicateLoadBalancerIP.Name:  decisions[reported.Service],
	invariant.DisallowedLoadBalancerIP.Name: "which pool gets the address, or whether the Service gets another one",
	invariant.ClaimNotInStatus:              "why what has assigned the address does not write it to the status of the Service: see the log of its controller",
	invariant.UnservedLoadBalancer.Name:     "what the Service asks for, or what the pools and their advertisements have",
	invariant.SurplusLoadBalancerIP.Name:    "which of the addresses the Service keeps",
	invariant.HandleCount.Name:              "nothing while the pod runs. Its DEL will not release the address, which then leaks",
	invariant.LeftoverHandle.Name:           "nothing: no address is taken by the handle",
}

// causing are invariants whose breaks make others break, before those others: findings are
// listed in this order, and what is not in it comes last.
var causing = []string{
	invariant.OverlappingBlocks.Name, invariant.SliceConflict.Name, invariant.BlockOwner.Name, invariant.AffinityMismatch.Name, invariant.StarvedNode.Name,
	invariant.DoubleClaim.Name, invariant.UnbackedSandbox.Name, invariant.DuplicateAddress.Name, invariant.BlackholedAddress.Name,
}

// causesFirst orders findings: the worst first, of those the causes before what follows from
// them. A cause counts as bad as the worst of what may follow from it.
func causesFirst(all []Finding) {
	rank := func(x *Finding) int {
		if i := slices.Index(causing, x.Invariant); i >= 0 {
			return i
		}
		return len(causing)
	}
	type placed struct {
		Finding
		severity, rank int
	}
	out := make([]placed, len(all))
	for i := range all {
		x := &all[i]
		out[i] = placed{*x, x.Severity.Rank(), rank(x)}
	}
	for i := range out {
		x := &out[i]
		if x.rank == len(causing) || x.Severity == model.Critical {
			continue
		}
		block, _ := netip.ParsePrefix(model.Named(x.Objects, model.RefBlock))
		for k := range all {
			if y := &all[k]; y.Severity.Rank() < x.severity && rank(y) > x.rank && rank(y) < len(causing) && touches(&x.Violation, block, &y.Violation) {
				x.severity = y.Severity.Rank()
			}
		}
	}
	slices.SortStableFunc(out, func(a, b placed) int { return cmp.Or(a.severity-b.severity, a.rank-b.rank) })
	for i := range out {
		all[i] = out[i].Finding
	}
}

// touches reports whether two findings are about one thing: an object that both have, or an
// address of the block of the first.
func touches(x *model.Violation, block netip.Prefix, y *model.Violation) bool {
	if a, err := netip.ParseAddr(model.Named(y.Objects, model.RefAddress)); err == nil && block.IsValid() {
		return block.Contains(a)
	}
	return slices.ContainsFunc(y.Objects, func(o model.Ref) bool { return slices.Contains(x.Objects, o) })
}
