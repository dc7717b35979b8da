// Package mixed generates worlds with two managers.
package mixed

import (
	"maps"

	"ipamsim/fuzz/space"
	"ipamsim/fuzz/space/calico"
	"ipamsim/fuzz/space/whereabouts"
)

// Space is a space in which every pod has an address of Calico, and most pods also have one or more
// of Whereabouts.
var Space = space.Space{Name: "mixed", Draw: func(w *space.World) {
	w.Doc.Spec.IPAM = "calico+whereabouts"
	second := whereabouts.Attach(w)
	calico.Draw(w, func(annotations map[string]string) {
		if !w.Chance(1, 6) {
			maps.Copy(annotations, second.Annotations())
		}
	})
	second.Finish()
}}
