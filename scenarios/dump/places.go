package dump

import (
	"maps"
	"slices"
	"strings"

	"ipamsim/model"
)

// Place is where an object of a cluster was read.
type Place struct {
	Object string // KIND NAME or KIND NAMESPACE/NAME
	Origin
}

// Places finds where the objects that a violation is about were read, as far as they
// were: first those that hold the record, then pods and nodes. An address has no object
// of its own.
func (r *Report) Places(refs []model.Ref) []Place {
	var out []Place
	for _, kind := range []model.RefKind{model.RefBlock, model.RefReservation, model.RefHandle, model.RefPool, model.RefNetwork, model.RefPod, model.RefNode} {
		for _, ref := range refs {
			if ref.Kind != kind {
				continue
			}
			for _, object := range r.objectsOf(ref, refs) {
				out = append(out, Place{object, r.origins[object]})
			}
		}
	}
	return out
}

// objectsOf are the objects of the dump that a thing may be.
func (r *Report) objectsOf(ref model.Ref, all []model.Ref) (out []string) {
	switch ref.Kind {
	case model.RefPod:
		if node, tunnel := strings.CutPrefix(ref.Name, "/"); tunnel {
			return r.named("Node " + node)
		}
		return r.named("Pod " + ref.Name)
	case model.RefNode:
		return r.named("Node " + ref.Name)
	}
	var names []string
	for _, i := range r.places {
		if i.Objects != nil {
			names = append(names, i.Objects(ref, all)...)
		}
	}
	for i, name := range names {
		if !slices.Contains(names[:i], name) { // two managers may call things alike
			out = append(out, r.named(name)...)
		}
	}
	return out
}

// named are the objects that are called so: KIND NAMESPACE/NAME or KIND NAME, the latter
// in whatever namespace, sorted.
func (r *Report) named(name string) []string {
	if _, ok := r.origins[name]; ok {
		return []string{name}
	}
	if r.byName == nil {
		r.byName = map[string][]string{}
		for _, object := range slices.Sorted(maps.Keys(r.origins)) {
			kind, key, _ := strings.Cut(object, " ")
			short := key[strings.LastIndexByte(key, '/')+1:]
			r.byName[kind+" "+short] = append(r.byName[kind+" "+short], object)
		}
	}
	if strings.Contains(name, "/") {
		return nil
	}
	return r.byName[name]
}
