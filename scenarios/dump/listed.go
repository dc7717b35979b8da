package dump

import (
	"slices"
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

// ended remembers as of when a list is, and of what kinds it is: a list that is empty says
// that there is nothing. It is complete only if the list, or what stands beside it, says so.
func (c *Cluster) ended(l decode.List) {
	if v := kept.Version(l.ResourceVersion); v != 0 {
		c.versions[v] = true
	}
	if l.Kind != "" && l.Kind != "List" {
		c.seen(kindKey(l.Kind, kept.GroupOf(l.APIVersion)))
		c.byTool(&l)
	}
	if l.Cut {
		for of := range l.Objects {
			c.cut[kindKey(of.Kind, kept.GroupOf(of.APIVersion))] = true
		}
	}
	if r := c.Resource(l.Resource); r != nil {
		c.last = l
		c.lists[kindKey(r.Kind, r.Group())] |= Said
		c.seen(kindKey(r.Kind, r.Group()))
	}
	if l.Asked != nil && !l.Cut {
		c.asked(&l)
	}
}

// seen notes that a kind was looked for.
func (c *Cluster) seen(key string) { c.read[key] += 0 }

// Complete says that all objects of a kind were read: those that are added are all there
// are.
func (c *Cluster) Complete(apiVersion, kind string) {
	key := kindKey(kind, kept.GroupOf(apiVersion))
	c.seen(key)
	c.lists[key] |= Said | Counted
}

// Count says that there are n of something that is no object of Kubernetes'.
func (c *Cluster) Count(what string, n int) { c.read[what] += n }

// Ignore says that nothing is kept of something.
func (c *Cluster) Ignore(what string) { c.ignored[what]++ }

// Saw reports whether a resource, by its full name, was looked for: there are objects of
// it, or a list.
func (c *Cluster) Saw(name string) bool {
	return slices.ContainsFunc(kept.Keys(c.read), func(key string) bool { return c.isOf(key, name) })
}

// SawAll reports whether the dump shows that it has all objects of a resource.
func (c *Cluster) SawAll(name string) bool { return c.evidence(name)&Said != 0 }

// isOf reports whether a key of a kind is of a resource.
func (c *Cluster) isOf(key, name string) bool {
	r := c.Resource(name)
	if r == nil {
		return false
	}
	kind, group, _ := strings.Cut(key, ".")
	for i := range c.resources {
		if x := &c.resources[i]; x.As != "" && x.Kind == kind {
			kind = x.As
		}
	}
	return kind == r.Kind && c.sameGroup(group, r.Group())
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

// Unread remembers a list that could not be read, and why: the report says so.
func (c *Cluster) Unread(what, why string) {
	c.unread = append(c.unread, strings.Join(strings.Fields(what+": "+why), " "))
}
