package model

// Usage is the use of scarce resources: at the end of a run, and the maximum.
type Usage struct {
	Addresses, Blocks, Routes             int
	AddressesMost, BlocksMost, RoutesMost int
	// AddressesKept is AddressesMost without the addresses of an ADD under way, which it releases
	// if it is refused.
	AddressesKept int
}

// Touch is a step that changed a part of the truth that no event of the history records: a stored
// pod, or a sandbox.
type Touch struct {
	Step int
	Ref  Ref
}
