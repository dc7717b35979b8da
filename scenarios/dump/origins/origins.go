// Package origins finds the objects of a dump that a violation is about, and where they were
// read.
package origins

import (
	"maps"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/scenarios/dump/decode"
)

// Place is where an object of a cluster was read.
type Place struct {
	Object string // KIND NAME or KIND NAMESPACE/NAME
	decode.Origin
}

// Index is where objects were read, by KIND NAMESPACE/NAME as a strict.Error names them.
type Index struct {
	at     map[string]decode.Origin
	byName map[string][]string // those by KIND NAME, without namespaces: see named
	kinds  []Named
}

// Named are what a thing that a violation is about may be called in a dump.
type Named func(thing model.Ref, all []model.Ref) []string

// Put notes where an object was read; the first place counts. What was concluded from others was not read.
func (r *Index) Put(object string, from decode.Origin) {
	if from.File == "" {
		return
	}
	if r.at == nil {
		r.at = map[string]decode.Origin{}
	}
	if _, ok := r.at[object]; !ok {
		r.at[object] = from
	}
}

// At is where an object was read.
func (r *Index) At(object string) (decode.Origin, bool) {
	from, ok := r.at[object]
	return from, ok
}

// Call adds what a manager's things may be called.
func (r *Index) Call(n Named) {
	if n != nil {
		r.kinds = append(r.kinds, n)
	}
}

// Add takes over another index.
func (r *Index) Add(o *Index) {
	r.kinds = append(r.kinds, o.kinds...)
	for object, from := range o.at {
		r.Put(object, from)
	}
}

// Forget drops all places.
func (r *Index) Forget() { r.at = nil }

// Places finds where the objects that a violation is about were read, as far as they
// were: first those that hold the record, then pods and nodes. An address has no object
// of its own.
func (r *Index) Places(refs []model.Ref) []Place {
	var out []Place
	for _, kind := range []model.RefKind{model.RefBlock, model.RefReservation, model.RefHandle, model.RefPool, model.RefNetwork, model.RefPod, model.RefNode} {
		for _, ref := range refs {
			if ref.Kind != kind {
				continue
			}
			for _, object := range r.objectsOf(ref, refs) {
				out = append(out, Place{object, r.at[object]})
			}
		}
	}
	return out
}

// objectsOf are the objects of the dump that a thing may be.
func (r *Index) objectsOf(ref model.Ref, all []model.Ref) (out []string) {
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
	for _, called := range r.kinds {
		names = append(names, called(ref, all)...)
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
func (r *Index) named(name string) []string {
	if _, ok := r.at[name]; ok {
		return []string{name}
	}
	if r.byName == nil {
		r.byName = map[string][]string{}
		for _, object := range slices.Sorted(maps.Keys(r.at)) {
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
