package dump

import (
	"strings"

	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/dump/kept"
)

// Source names where objects come from that Add is given, as Read does for files.
func (c *Cluster) Source(name string) { c.sources = append(c.sources, name) }

// Listed remembers as of which resourceVersion a list is, so that the report can
// say how far lists are apart.
func (c *Cluster) Listed(resourceVersion string) {
	c.ended(decode.List{ResourceVersion: resourceVersion})
}

// ended remembers as of when a list is, and of what kind: one that is empty says that
// there is nothing.
func (c *Cluster) ended(l decode.List) {
	c.lists++
	if l.Kind != "" {
		c.Complete(l.APIVersion, l.Kind)
	}
	if v := kept.Version(l.ResourceVersion); v != 0 {
		c.versions[v] = true
	}
	if r := c.Resource(l.Resource); r != nil {
		c.Complete(r.APIVersion, r.Kind)
	}
}

// Complete says that all objects of a kind were looked for: those that are added are
// all there are. A kind of which nothing was added and that nobody looked for is
// concluded from others, where that can be done.
func (c *Cluster) Complete(apiVersion, kind string) {
	key := kindKey(kind, kept.GroupOf(apiVersion))
	c.read[key] += 0
	c.complete[key] = true
}

// Count says that there are n of something that is no object of Kubernetes'.
func (c *Cluster) Count(what string, n int) { c.read[what] += n }

// Ignore says that nothing is kept of something.
func (c *Cluster) Ignore(what string) { c.ignored[what]++ }

// Saw reports whether a resource, by its full name, was looked for: there are objects of
// it, or a list, and none that could not be read.
func (c *Cluster) Saw(name string) bool { return !c.Impaired(name) && sees(c, c.read, name) }

// SawAll reports whether all objects of a resource were looked for, as far as what
// printed them says.
func (c *Cluster) SawAll(name string) bool { return !c.Impaired(name) && sees(c, c.complete, name) }

// Impaired reports whether an object or a list of a resource, by its full name, could not
// be read: those that were read are not all.
func (c *Cluster) Impaired(name string) bool {
	r := c.Resource(name)
	same := func(v, kind string) bool { return kind == r.Kind && c.sameGroup(kept.GroupOf(v), r.Group()) }
	return r != nil && c.Hits(same, r.Name(), r.Plural, strings.ToLower(r.Kind))
}

func sees[V any](c *Cluster, m map[string]V, name string) bool {
	r := c.Resource(name)
	if r == nil {
		return false
	}
	for key := range m {
		kind, group, _ := strings.Cut(key, ".")
		for i := range c.resources {
			if x := &c.resources[i]; x.As != "" && x.Kind == kind {
				kind = x.As
			}
		}
		if kind == r.Kind && c.sameGroup(group, r.Group()) {
			return true
		}
	}
	return false
}

// SawKind reports whether a kind was looked for, in whatever group.
func (c *Cluster) SawKind(kind string) bool {
	for k := range c.read {
		if k == kind || strings.HasPrefix(k, kind+".") {
			return true
		}
	}
	return false
}
