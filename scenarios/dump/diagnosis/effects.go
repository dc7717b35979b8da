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

// effect returns the effect of a finding on users; "" if it depends on the cluster.
func effect(x *model.Violation) string {
	switch {
	case x.Invariant != imported.Exhausted:
		inv, _ := invariant.Named(x.Invariant)
		return inv.Effect
	case model.Named(x.Objects, model.RefService) != "":
		return "clients cannot reach the Service from outside the cluster"
	}
	return "pods that wait for an address do not start"
}

// toDecide returns the decision left to the operator for a finding without a remediation; ""
// if it depends on the cluster.
func toDecide(x *Finding) string {
	switch {
	case x.Decide != "":
		return x.Decide
	case x.Code == invariant.ClaimNotInStatus:
		return "why the controller that assigned the address does not write it to the status of the Service: check its log"
	case x.Invariant == invariant.DuplicateLoadBalancerIP.Name:
		return decisions[reported.Service]
	}
	inv, _ := invariant.Named(x.Invariant)
	return inv.Decision
}

// causing orders invariants: a violation of one causes violations of later ones. Findings are
// listed in this order; other invariants come last.
var causing = []string{
	invariant.OverlappingBlocks.Name, invariant.SliceConflict.Name, invariant.BlockOwner.Name, invariant.AffinityMismatch.Name, invariant.StarvedNode.Name,
	invariant.DoubleClaim.Name, invariant.UnbackedSandbox.Name, invariant.DuplicateAddress.Name, invariant.BlackholedAddress.Name,
}

// causesFirst sorts findings by severity, and within a severity causes before their effects.
// A cause is as severe as its worst possible effect.
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

// touches reports whether two findings share an object, or y is about an address of the block
// of x.
func touches(x *model.Violation, block netip.Prefix, y *model.Violation) bool {
	if a, err := netip.ParseAddr(model.Named(y.Objects, model.RefAddress)); err == nil && block.IsValid() {
		return block.Contains(a)
	}
	return slices.ContainsFunc(y.Objects, func(o model.Ref) bool { return slices.Contains(x.Objects, o) })
}
