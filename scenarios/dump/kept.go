package dump

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ipamsim/scenarios/strict"
)

// Head is what every object has.
type Head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name              string            `json:"name"`
		Namespace         string            `json:"namespace"`
		ResourceVersion   string            `json:"resourceVersion"`
		Labels            map[string]string `json:"labels"`
		Annotations       map[string]string `json:"annotations"`
		DeletionTimestamp *string           `json:"deletionTimestamp"`
		OwnerReferences   []reference       `json:"ownerReferences"`
	} `json:"metadata"`

	From Origin `json:"-"`
}

// HeadOf is the head of an object that has none.
func HeadOf(kind, name string, from Origin) *Head {
	h := &Head{Kind: kind, From: from}
	h.Metadata.Name = name
	return h
}

// Group is the API group without its version; "" for the core group.
func (h *Head) Group() string { return groupOf(h.APIVersion) }

// Object names it for people: KIND NAMESPACE/NAME.
func (h *Head) Object() string { return strings.TrimSuffix(h.Kind+" "+h.Key(), " ") }

// Key is namespace/name, or the name of what has no namespace.
func (h *Head) Key() string {
	if h.Metadata.Namespace == "" {
		return h.Metadata.Name
	}
	return h.Metadata.Namespace + "/" + h.Metadata.Name
}

// Fail is what is wrong with the object, in one line.
func (h *Head) Fail(field, format string, args ...any) *strict.Error {
	return h.From.Fail(h.Object(), field, format, args...)
}

// SpecOf reads what an object has under spec into a value, which may hold defaults.
func SpecOf[T any](raw json.RawMessage, to *T) error {
	o := struct {
		Spec T `json:"spec"`
	}{*to}
	err := json.Unmarshal(raw, &o)
	*to = o.Spec
	return err
}

// Kept are the objects of one kind, by a key that is their own, e.g. namespace/name.
type Kept[T any] map[string]*Item[T]

// Item is what is kept of one object.
type Item[T any] struct {
	Value   T
	From    Origin
	version uint64 // resourceVersion, 0: not known
	group   string
}

// Keys are all, sorted.
func (k Kept[T]) Keys() []string { return KeysOf(k) }

// KeysOf are the keys of a map, sorted.
func KeysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Put keeps an object. One that is there already is taken once; of two that differ the
// newer one counts, and it is said; if neither is newer it is an error.
func Put[T any](c *Cluster, all Kept[T], key string, h *Head, value T) error {
	n := &Item[T]{Value: value, From: h.From, version: version(h.Metadata.ResourceVersion), group: h.Group()}
	old := all[key]
	if old == nil {
		all[key] = n
		return nil
	}
	if reflect.DeepEqual(old.Value, n.Value) {
		return nil
	}
	if n.group != old.group { // one object, as kubectl and as the manager's own tool show it
		if c.first(n.group) {
			all[key] = n
		}
		return nil
	}
	newer := cmp.Compare(n.version, old.version)
	if newer == 0 || n.version == 0 || old.version == 0 {
		return h.Fail("", "is in %s as well, with another content, and neither is newer: leave one out", old.From)
	}
	if newer < 0 {
		n, old = old, n
	}
	all[key] = n
	c.newer = append(c.newer, fmt.Sprintf("%s as it is in %s, %s has a newer one", h.Object(), old.From, n.From))
	return nil
}

// version is a resourceVersion as a number, 0 if it is none. A tool may put two of them
// into one.
func version(s string) uint64 {
	s, _, _ = strings.Cut(s, "/")
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}
