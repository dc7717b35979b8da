package invariant

import "slices"

// all is the list of invariants, sorted by name. A new one is a file and a line
// here.
var all = []Invariant{
	ActorCrash,
	Convergence,
	DoubleClaim,
	DuplicateAddress,
	ExcludedAddress,
	LeakedClaim,
	LeftoverReservation,
	OutOfPool,
	OverlapReservation,
	SliceConflict,
	SpuriousExhaustion,
	Stuck,
	UnbackedSandbox,
}

// All is every invariant, sorted by name.
func All() []Invariant { return slices.Clone(all) }
