package answer

import "ipamsim/model/capacity"

// Manager is what answers know of an address manager: a part of its ipam.Manager. The zero
// value knows nothing.
type Manager struct {
	// Minimise is the measure that is best if a plan says nothing.
	Minimise string
	// Changes are what options do that known failures follow from, in the order to tell
	// them.
	Changes []Known
	// Step is a step of a migration as an instruction, of the manager's own kinds.
	Step func(*capacity.Step) string
}
