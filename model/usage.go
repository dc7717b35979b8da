package model

// Usage is how much of what is scarce was taken: at the end of a run, and at the
// most at any time.
type Usage struct {
	Addresses, Blocks, Routes             int
	AddressesMost, BlocksMost, RoutesMost int
	// AddressesKept is AddressesMost without what an ADD under way had taken, which it
	// gives back if it is refused.
	AddressesKept int
}

// Touch is a step after which something of the truth was another that no event of the
// history records: a stored pod, or a sandbox.
type Touch struct {
	Step int
	Ref  Ref
}
