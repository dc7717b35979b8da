package space

// whereabouts draws a world of Whereabouts.
func whereabouts(w *world) { w.doc.Spec.IPAM = "whereabouts" }
