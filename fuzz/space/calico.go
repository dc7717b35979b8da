package space

// calico draws a world of Calico.
func calico(w *world) { w.doc.Spec.IPAM = "calico" }
