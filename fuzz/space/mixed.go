package space

import "maps"

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
	if w.Chance(1, 4) {
		w.doc.Spec.Daemons = append(w.doc.Spec.Daemons, "pod-control-loop")
	}
}
