package invariant

import "slices"

// all is the list of invariants, sorted by name. A new one is a file and a line
// here.
var all = []Invariant{
	ActorCrash,
	AffinityMismatch,
	BlackholedAddress,
	BlockOwner,
	Convergence,
	DoubleClaim,
	DuplicateAddress,
	ExcludedAddress,
	HandleCount,
	LeakedAffinity,
	LeakedClaim,
	LeftoverHandle,
	LeftoverReservation,
	MaxBlocks,
	OutOfPool,
	OverlapReservation,
	OverlappingBlocks,
	SliceConflict,
	SpuriousExhaustion,
	StarvedNode,
	StrictAffinity,
	Stuck,
	UnbackedSandbox,
}

// All is every invariant, sorted by name.
func All() []Invariant { return slices.Clone(all) }

// AtRest reports whether the invariant of that name is Quiescent.
func AtRest(name string) bool {
	return slices.ContainsFunc(all, func(i Invariant) bool { return i.Name == name && i.Phase == Quiescent })
}
