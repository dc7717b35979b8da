// Package kept is what is kept of the objects of a cluster while they are read: of each what
// matters to address managers, and where it was read.
package kept

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ipamsim/scenarios/dump/decode"
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

	From decode.Origin `json:"-"`
}

// HeadOf is the head of an object that has none.
func HeadOf(kind, name string, from decode.Origin) *Head {
	h := &Head{Kind: kind, From: from}
	h.Metadata.Name = name
	return h
}

// Group is the API group without its version; "" for the core group.
func (h *Head) Group() string { return GroupOf(h.APIVersion) }

// Object names it for people: KIND NAMESPACE/NAME.
func (h *Head) Object() string { return strings.TrimSpace(h.Kind + " " + h.Key()) }

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

// Legible refuses an object without a name, or one in which an address is blacked out. A
// ConfigMap may hold prose.
func (h *Head) Legible(raw json.RawMessage) error {
	if h.Metadata.Name == "" {
		return h.Fail("metadata.name", "missing")
	}
	if h.Kind == "ConfigMap" {
		return nil
	}
	if field, problem := strict.Illegible(raw); problem != "" {
		return h.Fail(field, "%s", problem)
	}
	return nil
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

// Objects are those of one kind, by a key that is their own, e.g. namespace/name.
type Objects[T any] map[string]*Item[T]

// Item is what is kept of one object.
type Item[T any] struct {
	Value   T
	From    decode.Origin
	version uint64 // resourceVersion, 0: not known
	group   string
}

// Keys are all, sorted.
func (k Objects[T]) Keys() []string { return Keys(k) }

// Keys are the keys of a map, sorted.
func Keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Put keeps an object. A duplicate is taken once; of two versions the newer one counts, and this is
// reported; if neither is newer, it is an error.
func Put[T any](c *Store, all Objects[T], key string, h *Head, value T) error {
	n := &Item[T]{Value: value, From: h.From, version: Version(h.Metadata.ResourceVersion), group: h.Group()}
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
		return h.Fail("", "is also in %s, with different content, and neither is newer: remove one", old.From)
	}
	if newer < 0 {
		n, old = old, n
	}
	all[key] = n
	c.Newer = append(c.Newer, fmt.Sprintf("%s of %s: %s has a newer one", h.Object(), old.From, n.From))
	return nil
}

// Version is a resourceVersion as a number, 0 if it is none. A tool may put two of them
// into one.
func Version(s string) uint64 {
	s, _, _ = strings.Cut(s, "/")
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}

// GroupOf is the API group without its version; "" for the core group.
func GroupOf(apiVersion string) string {
	g, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return g
}

// Store is what the objects of a cluster share.
type Store struct {
	Newer []string // objects that were there twice, with what became of them, for people

	first func(group string) bool
	words map[string]string
}

// NewStore returns an empty store. first reports whether an API group is the preferred one of several that
// serve the same objects.
func NewStore(first func(group string) bool) *Store {
	return &Store{first: first, words: map[string]string{}}
}

// Word keeps one copy of a text that many objects share.
func (c *Store) Word(s string) string {
	if w, ok := c.words[s]; ok {
		return w
	}
	w := strings.Clone(s)
	c.words[w] = w
	return w
}

// Labels returns a copy of labels whose texts are shared between objects.
func (c *Store) Labels(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[c.Word(k)] = c.Word(v)
	}
	return out
}

// Forget drops the texts that objects share. Nothing can be added afterwards.
func (c *Store) Forget() { c.words = nil }

// Merge takes a Node's own object in the place of what a manager's tool said of it, and the
// other way round. done is false if there was neither.
func (c *Store) Merge(all Objects[Node], h *Head, n Node, own bool) (done bool) {
	old := all[h.Metadata.Name]
	switch {
	case old == nil:
		return false
	case !own:
		old.Value.Annotations = Over(n.Annotations, old.Value.Annotations)
	case old.group == "": // another one of the Node itself
		return false
	default:
		n.Annotations = Over(old.Value.Annotations, n.Annotations)
		old.Value, old.From, old.version, old.group = n, h.From, Version(h.Metadata.ResourceVersion), ""
	}
	return true
}
