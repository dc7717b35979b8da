// Package mixed draws worlds of two managers side by side.
package mixed

import (
	"maps"

	"ipamsim/fuzz/space"
	"ipamsim/fuzz/space/calico"
	"ipamsim/fuzz/space/whereabouts"
)

// Space is one in which every pod has an address of Calico, and most ask for one or more
// of Whereabouts besides.
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
