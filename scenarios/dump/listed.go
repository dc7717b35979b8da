package dump

import "strings"

// Source names where objects come from that Add is given, as Read does for files.
func (c *Cluster) Source(name string) { c.sources = append(c.sources, name) }

// Listed remembers as of which resourceVersion a list is, so that the report can
// say how far lists are apart.
func (c *Cluster) Listed(resourceVersion string) {
	var h listHead
	h.Metadata.ResourceVersion = resourceVersion
	c.sawList(h)
}

// Complete says that all objects of a kind were looked for: those that are added are
// all there are. A kind of which nothing was added and that nobody looked for is
// concluded from others, where that can be done.
func (c *Cluster) Complete(apiVersion, kind string) {
	if g, _, ok := strings.Cut(apiVersion, "/"); ok {
		kind += "." + g
	}
	c.read[kind] += 0
}

// Unread remembers a list that could not be read, and why: the report says so.
func (c *Cluster) Unread(what, why string) {
	c.unread = append(c.unread, strings.Join(strings.Fields(what+": "+why), " "))
}
