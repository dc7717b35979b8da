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
				if from, ok := r.origins[object]; ok {
					out = append(out, Place{object, from})
				}
			}
		}
	}
	return out
}

// objectsOf are what a thing may be called in a cluster.
func (r *Report) objectsOf(ref model.Ref, all []model.Ref) []string {
	switch ref.Kind {
	case model.RefBlock:
		out := []string{"IPAMBlock " + blockName(ref.Name)}
		if node := model.Named(all, model.RefNode); node != "" {
			out = append(out, "BlockAffinity "+affinityName(affinitySpec{Node: node, CIDR: ref.Name}))
		}
		return out
	case model.RefReservation:
		return r.named("OverlappingRangeIPReservation", ref.Name)
	case model.RefHandle:
		return []string{"IPAMHandle " + strings.ToLower(ref.Name)}
	case model.RefPool:
		return r.named("IPPool", ref.Name)
	case model.RefNetwork:
		return []string{"NetworkAttachmentDefinition " + ref.Name}
	case model.RefPod:
		if node, tunnel := strings.CutPrefix(ref.Name, "/"); tunnel {
			return []string{"Node " + node}
		}
		return []string{"Pod " + ref.Name}
	case model.RefNode:
		return []string{"Node " + ref.Name}
	}
	return nil
}

// named are the objects of a kind that have a name, in whatever namespace, sorted.
func (r *Report) named(kind, name string) []string {
	if r.byName == nil {
		r.byName = map[string][]string{}
		for _, object := range slices.Sorted(maps.Keys(r.origins)) {
			kind, key, _ := strings.Cut(object, " ")
			short := key[strings.LastIndexByte(key, '/')+1:]
			r.byName[kind+" "+short] = append(r.byName[kind+" "+short], object)
		}
	}
	return r.byName[kind+" "+name]
}
