package space

import (
	"maps"
	"slices"

	"ipamsim/scenarios"
)

// mixed draws a world in which every pod has an address of Calico, and most ask
// for one or more of Whereabouts besides.
func mixed(w *world) {
	w.doc.Spec.IPAM = "calico+whereabouts"
	c := &calicoWorld{world: w}
	nets := w.attachments()
	c.draw(func() (map[string]string, object) {
		annotations, spec := c.template()
		if !w.Chance(1, 6) {
			if annotations == nil {
				annotations = map[string]string{}
			}
			maps.Copy(annotations, w.attached(nets))
		}
		return annotations, spec
	})
	w.reconcilers("ip-reconciler")
	if !slices.ContainsFunc(w.doc.Spec.Reconcilers, func(r scenarios.Reconciler) bool { return r.Name == "ip-reconciler" }) {
		w.doc.Spec.Settle.Duration, w.doc.Spec.Judge.LeakAfter.Duration = 0, 0 // nobody gives back what is lost
	}
	if w.Chance(1, 4) {
		w.doc.Spec.Daemons = append(w.doc.Spec.Daemons, "pod-control-loop")
	}
	w.unset()
	w.uncommon(rareNetworks)
}
