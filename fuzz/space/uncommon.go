package space

// Uncommon draws settings that few clusters have: none in half of the worlds. It is drawn last, so that no
// other draw depends on it.
func (w *World) Uncommon(of []func(*World)) {
	for range Pick(w.Choices, 0, 0, 0, 1, 1, 2) {
		Pick(w.Choices, of...)(w)
	}
}

// Notes returns the pods' annotations of a random workload, nil if that workload does not exist from the
// start.
func (w *World) Notes() object {
	l := Pick(w.Choices, w.loads...)
	if l.late {
		return nil
	}
	meta := l.manifest["metadata"].(object)
	if l.kind != "Pod" {
		meta = l.manifest["spec"].(object)["template"].(object)["metadata"].(object)
	}
	return AnnotationsOf(meta)
}

// AnnotationsOf returns the annotations in an object's metadata, to be extended.
func AnnotationsOf(meta object) object {
	notes, ok := meta["annotations"].(object)
	if !ok {
		notes = object{}
		meta["annotations"] = notes
	}
	return notes
}
