package dump

import (
	"strings"

	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/dump/kept"
)

// Source names where objects come from that Add is given, as Read does for files.
func (c *Cluster) Source(name string) { c.sources = append(c.sources, name) }

// Listed records the resourceVersion of a list, so that the report can show how far lists are
// apart.
func (c *Cluster) Listed(resourceVersion string) {
	c.ended(decode.List{ResourceVersion: resourceVersion})
}

// ended remembers as of when a list is, and what it shows.
func (c *Cluster) ended(l decode.List) {
	if v := kept.Version(l.ResourceVersion); v != 0 {
		c.versions[v] = true
	}
	c.List(l)
}

// Ignore counts an object that is not kept.
func (c *Cluster) Ignore(what string) { c.ignored[what]++ }

// Impaired reports whether an object or a list of a resource, by its full name, could not
// be read: those that were read are not all.
func (c *Cluster) Impaired(name string) bool {
	r := c.Resource(name)
	same := func(v, kind string) bool { return kind == r.Kind && c.sameGroup(kept.GroupOf(v), r.Group()) }
	return r != nil && c.Hits(same, r.Name(), r.Plural, strings.ToLower(r.Kind))
}
