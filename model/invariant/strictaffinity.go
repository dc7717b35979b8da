package invariant

import "ipamsim/model"

// StrictAffinity is a node that borrows although the user forbade it, because a
// borrowed address is one that its block's owner drops.
//
// What was borrowed before StrictAffinity was switched on may stay, and so may
// what an ADD takes that had already begun.
//
// Source: libcalico-go/lib/ipam/ipam_block.go, autoAssign and assign (v3.31).
var StrictAffinity = define(Invariant{
	Name:     "strict-affinity",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No address is claimed in another node's block while StrictAffinity is on.",
}, func(v View) []finding {
	if v.Past == nil {
		return nil
	}
	return v.Past.borrowed
})
