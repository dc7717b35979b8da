package whereabouts

import (
	_ "embed"

	"ipamsim/sim/ipam"
)

//go:embed copies.txt
var copies string

// Sources are upstream's module, its generated clients, and the copies of its packages
// here. What of ours stands in the place of its programs' main functions
// (transcribed.txt) is not upstream's.
func (a adapter) Sources() []ipam.Source {
	return append([]ipam.Source{
		{Module: a.Upstream(), Package: module},
		{Module: a.Upstream(), Package: module + "/pkg/generated", Carries: true},
	}, ipam.CopiedHere(a.Upstream(), "ipamsim/sim/ipam/whereabouts", copies)...)
}
