package invariant

import "slices"

// all is the list of invariants, sorted by name. A new one is a file and a line
// here.
var all = []Invariant{
	ActorCrash,
	AffinityMismatch,
	BlackholedAddress,
	BlockContents,
	BlockOwner,
	ConfigStatus,
	Convergence,
	CrashLoop,
	DisallowedLoadBalancerIP,
	DoubleClaim,
	DuplicateAddress,
	DuplicateClusterIP,
	DuplicateLoadBalancerIP,
	DuplicateNodePort,
	ExcludedAddress,
	FailedCall,
	HandleCount,
	LeakedAffinity,
	LeakedClaim,
	LeakedLoadBalancerIP,
	LeakedServiceClaim,
	LeftoverHandle,
	LeftoverReservation,
	MaxBlocks,
	OutOfPool,
	OverlapReservation,
	OverlappingBlocks,
	PoolStatus,
	RefusedService,
	ReservationCount,
	ServiceFamilies,
	ServiceNodePorts,
	SliceConflict,
	SpinningReconciler,
	SpuriousExhaustion,
	StarvedNode,
	StrictAffinity,
	Stuck,
	SurplusLoadBalancerIP,
	UnassignedNode,
	UnbackedSandbox,
	UnbackedService,
	UnreleasedClaim,
	UnservedLoadBalancer,
}

// All is every invariant, sorted by name.
func All() []Invariant { return slices.Clone(all) }

// Named returns an invariant by name; ok is false if there is none.
func Named(name string) (i Invariant, ok bool) {
	at := slices.IndexFunc(all, func(i Invariant) bool { return i.Name == name })
	if at < 0 {
		return i, false
	}
	return all[at], true
}

// AtRest reports whether the invariant of that name is Quiescent.
func AtRest(name string) bool {
	i, _ := Named(name)
	return i.Phase == Quiescent
}
