package cause

import (
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
)

// rule is what is particular to the causes of an invariant's violations. The zero rule: the
// last write of what the violation is about broke it, and code, links and an operator's
// writes count as they are.
type rule struct {
	way way

	after     []string // invariants whose violation makes one of this later: see first
	slow      bool     // it is broken by time, some bound after what made it so
	call      bool     // a violation says after which call it was seen
	unclaimed bool     // an address that nobody claimed is told by the ADD that returned it
	freed     bool     // a new claim is told besides by who gave the address back
	reserved  bool     // a new claim is told by who dropped the reservation that forbade it
	limit     bool     // a write is told by whether its process had counted before
	outcome   string   // of each write, if not what became of the row

	code func(*Cause) string // as far as it says more than the links; nil: it does

	// rests are kinds of rows besides claims and blocks on which a violation rests.
	// Reservations and handles say besides whose an address is, and what is done to them
	// concerns few.
	rests []model.RefKind

	// inner: the record contradicts itself, which is a mistake of the function that wrote
	// it, whoever called it and however it was interrupted.
	inner bool
	// place: the innermost function says it, whatever it was called for.
	place bool
	// counts: that function makes several writes, one after the other, each of which may
	// fail: which one it was is no part of the cause.
	counts bool
	// others: the call of the links did not do it, but those who came before.
	others bool
	// silent: its code says that a write was right, and that nobody was told of it. What
	// should have told is no change of the record: it failed.
	silent string
	// name under which a finding says the invariant, if several see one mistake.
	name string
}

// way is where the links of a violation begin.
type way int

const (
	byWrite         way = iota
	byCrash             // a process of the address manager panicked
	byExit              // one exited with an error
	byRequests          // one repeats its requests
	byRefusal           // a call that failed, or else a write
	byStay              // the call that had to take it away, and the passes after it
	byStayOrRefusal     // the one, the other, or a write
	byGiver             // who gives what was not given
	byStatus            // the last write of the status that is wrong
)

// Names of findings that several invariants see.
const (
	lost = "address-lost" // what said whose an address is was overwritten or taken away
	left = "left-over"    // a call left it, or none came
)

var both = []model.RefKind{model.RefReservation}

var rules = map[string]rule{
	invariant.ActorCrash.Name:         {way: byCrash},
	invariant.CrashLoop.Name:          {way: byExit},
	invariant.SpinningReconciler.Name: {way: byRequests, code: ifUndone},
	invariant.SpuriousExhaustion.Name: {way: byRefusal},
	invariant.FailedCall.Name:         {way: byRefusal},
	// What its pods do meanwhile does not tell who has the blocks.
	invariant.StarvedNode.Name: {way: byRefusal, code: noCode, inner: true, others: true},
	invariant.Stuck.Name:       {way: byStay, slow: true},
	// Nothing was done to it.
	invariant.UnassignedNode.Name: {way: byGiver, slow: true},
	invariant.Convergence.Name: {way: byStayOrRefusal, name: left,
		after: named(invariant.DuplicateAddress, invariant.FailedCall, invariant.HandleCount, invariant.LeakedClaim, invariant.LeftoverHandle, invariant.OverlapReservation, invariant.Stuck, invariant.UnbackedSandbox, invariant.UnreleasedClaim)},
	invariant.LeakedClaim.Name: {way: byStay, slow: true, name: left,
		after: named(invariant.HandleCount, invariant.UnreleasedClaim)},
	invariant.UnreleasedClaim.Name: {way: byStay, call: true, name: left, after: named(invariant.HandleCount)},
	invariant.ReservationCount.Name: {way: byStay, call: true, rests: both, name: left,
		after: named(invariant.OverlapReservation, invariant.UnbackedSandbox, invariant.UnreleasedClaim)},
	invariant.LeftoverReservation.Name: {way: byStay, rests: both, name: left,
		after: named(invariant.LeakedClaim, invariant.OverlapReservation, invariant.ReservationCount, invariant.UnbackedSandbox)},
	invariant.HandleCount.Name: {code: counted, rests: []model.RefKind{model.RefHandle}, inner: true, counts: true},
	invariant.LeftoverHandle.Name: {way: byStay, code: noCode, rests: []model.RefKind{model.RefHandle}, inner: true, counts: true,
		after: named(invariant.HandleCount)},
	invariant.MaxBlocks.Name:         {inner: true, limit: true, code: unlimited},
	invariant.OverlappingBlocks.Name: {inner: true, place: true},
	invariant.LeakedAffinity.Name: {inner: true,
		after: named(invariant.AffinityMismatch, invariant.BlockOwner)},
	// Where packets end depends on where they come from.
	invariant.BlackholedAddress.Name: {slow: true, code: noCode, place: true,
		after: named(invariant.AffinityMismatch, invariant.BlockOwner, invariant.OverlappingBlocks, invariant.UnbackedSandbox)},
	invariant.ExcludedAddress.Name: {outcome: handedOut}, // new or not, it must not be
	invariant.DuplicateAddress.Name: {code: toWhom, freed: true, name: lost,
		after: named(invariant.BlockOwner, invariant.DoubleClaim, invariant.OverlapReservation, invariant.OverlappingBlocks, invariant.SliceConflict, invariant.UnbackedSandbox)},
	invariant.UnbackedSandbox.Name: {code: toWhom, unclaimed: true, freed: true, name: lost,
		after: named(invariant.BlockOwner, invariant.DoubleClaim, invariant.DuplicateAddress, invariant.HandleCount, invariant.OverlappingBlocks, invariant.SliceConflict)},
	invariant.DoubleClaim.Name: {rests: both, reserved: true, name: lost,
		after: named(invariant.OverlapReservation, invariant.SliceConflict, invariant.UnbackedSandbox)},
	// Who gave the address back tells more than who was given it next.
	invariant.DuplicateClusterIP.Name:   {freed: true},
	invariant.LeakedServiceClaim.Name:   {slow: true},
	invariant.UnbackedService.Name:      {slow: true},
	invariant.PoolStatus.Name:           {way: byStatus},
	invariant.UnservedLoadBalancer.Name: {silent: invariant.ClaimNotInStatus},
	invariant.OverlapReservation.Name: {rests: both, name: lost,
		after: named(invariant.DoubleClaim, invariant.UnbackedSandbox)},
}

// named are the names of invariants.
func named(all ...invariant.Invariant) (out []string) {
	for _, i := range all {
		out = append(out, i.Name)
	}
	return out
}

func noCode(*Cause) string { return "" }

// ifUndone: what a process repeats is seen in the links.
func ifUndone(c *Cause) string {
	if c.Code == invariant.Undone {
		return c.Code
	}
	return ""
}

// unlimited: of which blocks there are too many says nothing where nobody counted any.
func unlimited(c *Cause) string {
	if len(c.Links) > 0 && c.Links[0].Manner == unlisted {
		return ""
	}
	return c.Code
}

// counted is too few or too many: how far off depends on what the handle had before.
func counted(c *Cause) string {
	if c.Code == invariant.CountedZero {
		return invariant.CountedTooFew
	}
	if c.Code != invariant.CountedTooFew {
		return invariant.CountedTooMany
	}
	return c.Code
}

// toWhom: who has an address, and for whom it stands, depends on whose turn came; but not
// of one that was handed out as if nobody had it.
func toWhom(c *Cause) string {
	freed := slices.ContainsFunc(c.Links, func(l Link) bool { return l.Role == Freed })
	if len(c.Links) > 0 && (freed || c.Links[0].Outcome != created) {
		return ""
	}
	return c.Code
}

// concerns reports whether a violation rests on rows of a kind.
func (r rule) concerns(row model.RefKind) bool {
	return row != model.RefReservation && row != model.RefHandle || slices.Contains(r.rests, row)
}
