// Package evidence decides whether a dump has all objects of a kind, by what shows it: the
// commands that printed its lists, and other objects that contradict them.
package evidence

import (
	"slices"
	"strings"

	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/dump/kept"
)

// Resource is a kind of object that is read.
type Resource struct {
	APIVersion, Plural, Kind string
	As                       string // what another API group calls the kind; "": the same
	Namespaced               bool
	Tool                     bool // a manager's own tool prints it, which takes no selectors
	One                      bool // one object of it is read
}

// Name is the full name, as kubectl takes it.
func (r *Resource) Name() string {
	return strings.TrimSuffix(r.Plural+"."+kept.GroupOf(r.APIVersion), ".")
}

func (r *Resource) key() string { return Key(r.Kind, kept.GroupOf(r.APIVersion)) }

// Key is how objects of a kind are counted.
func Key(kind, group string) string {
	if group == "" {
		return kind
	}
	return kind + "." + group
}

// Kind is what shows that a dump has all objects of a resource. That an object is not in the
// dump says nothing without it: kubectl prints the same List for all namespaces, for one and
// for a selector.
type Kind int

// The kinds of evidence. Said: the command that printed the list is known by a prompt, a comment, a
// heading or the name of the file. Counted: the API server was asked directly, or the list has as many
// objects as the command counted. A list that was edited later is Said to be complete, but not Counted.
const (
	Said Kind = 1 << iota
	Counted
)

// Book is what was read, and what shows that it is complete.
type Book struct {
	Read map[string]int // objects by kind, as they came

	resources []Resource
	same      func(a, b string) bool // whether two API groups show the same objects
	impaired  func(name string) bool // whether something of a resource could not be read
	lists     map[string]Kind        // by kind
	spaced    map[kindIn]bool        // kinds with all objects of a namespace
	cut       map[string]bool        // kinds with an incomplete list, by its own data or by its count
	none      map[string]bool        // kinds with a complete and empty list
	last      decode.List            // the last list with a heading
	alive     map[string]bool        // pods, by namespace/name, that other objects name
	pods      map[string]int         // how many pods a controller has, by KIND NAMESPACE/NAME
}

// Objects are how many were read.
func (b *Book) Objects() (n int) {
	for _, of := range b.Read {
		n += of
	}
	return n
}

// kindIn is a kind in a namespace.
type kindIn struct{ kind, namespace string }

// NewBook is an empty one. A resource that is impaired is never complete: something of it
// could not be read.
func NewBook(resources []Resource, same func(a, b string) bool, impaired func(name string) bool) *Book {
	return &Book{
		Read: map[string]int{}, resources: resources, same: same, impaired: impaired, lists: map[string]Kind{}, spaced: map[kindIn]bool{}, cut: map[string]bool{}, none: map[string]bool{},
		alive: map[string]bool{}, pods: map[string]int{},
	}
}

func (c *Book) resource(name string) *Resource {
	i := slices.IndexFunc(c.resources, func(r Resource) bool { return r.Name() == name })
	if i < 0 {
		return nil
	}
	return &c.resources[i]
}

// List records the kinds of a list: an empty one shows that there are no objects. It is complete only if
// the list or its context shows it.
func (c *Book) List(l decode.List) {
	if l.Kind != "" && l.Kind != "List" {
		c.seen(Key(l.Kind, kept.GroupOf(l.APIVersion)))
		c.byTool(&l)
	}
	if l.Cut {
		for of := range l.Objects {
			c.cut[Key(of.Kind, kept.GroupOf(of.APIVersion))] = true
		}
	}
	if r := c.resource(l.Resource); r != nil {
		c.last = l
		c.lists[r.key()] |= Said
		c.seen(r.key())
	}
	if l.Asked != nil && !l.Cut {
		c.asked(&l)
	}
}

// seen notes that a kind was looked for.
func (c *Book) seen(key string) { c.Read[key] += 0 }

// Complete records that all objects of a kind were read.
func (c *Book) Complete(apiVersion, kind string) {
	key := Key(kind, kept.GroupOf(apiVersion))
	c.seen(key)
	c.lists[key] |= Said | Counted
}

// Count adds n to the number of items that are not Kubernetes objects.
func (c *Book) Count(what string, n int) { c.Read[what] += n }

// Saw reports whether a resource, by its full name, was looked for: there are objects of
// it, or a list, and none that could not be read.
func (c *Book) Saw(name string) bool {
	if c.impaired(name) {
		return false
	}
	for key := range c.Read {
		if c.isOf(key, name) {
			return true
		}
	}
	return false
}

// SawAll reports whether the dump shows that it has all objects of a resource.
func (c *Book) SawAll(name string) bool { return c.Of(name)&Said != 0 }

// SawKind reports whether a kind was looked for, in whatever group.
func (c *Book) SawKind(kind string) bool {
	for k := range c.Read {
		if k == kind || strings.HasPrefix(k, kind+".") {
			return true
		}
	}
	return false
}

// isOf reports whether a key of a kind is of a resource.
func (c *Book) isOf(key, name string) bool {
	r := c.resource(name)
	if r == nil {
		return false
	}
	kind, group, _ := strings.Cut(key, ".")
	for i := range c.resources {
		if x := &c.resources[i]; x.As != "" && x.Kind == kind {
			kind = x.As
		}
	}
	return kind == r.Kind && c.same(group, kept.GroupOf(r.APIVersion))
}

// Of is the evidence of a resource, by its full name. An object that is not in a list that is
// said to be complete contradicts it, as does a list that was cut.
func (c *Book) Of(name string) Kind {
	var out Kind
	if c.impaired(name) {
		return 0
	}
	for key, e := range c.lists {
		if !c.isOf(key, name) {
			continue
		}
		if out |= e; c.cut[key] || e&Counted == 0 && c.none[key] && c.Read[key] > 0 {
			return 0
		}
	}
	return out
}

// inNamespace reports whether a command printed all objects that a namespace has of a
// resource.
func (c *Book) inNamespace(name, namespace string) bool {
	if c.impaired(name) {
		return false
	}
	for of := range c.spaced {
		if of.namespace == namespace && c.isOf(of.kind, name) && !c.cut[of.kind] {
			return true
		}
	}
	return false
}

// All reports whether the dump shows that it has all objects that a namespace has of a
// resource. A list that is said to be of all namespaces and has nothing of this one may
// have been edited.
func (c *Book) All(name, namespace string, shown bool) bool {
	e := c.Of(name)
	return e&Counted != 0 || e&Said != 0 && shown || c.inNamespace(name, namespace)
}
