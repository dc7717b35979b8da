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
	g, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		g = ""
	}
	c.read[kindKey(kind, g)] += 0
	c.complete[kindKey(kind, g)] = true
}

// saw reports whether a resource was looked for: there are objects of it, or a list.
func (c *Cluster) saw(r *Resource) bool {
	return seenIn(c.read, r)
}

// sawAll reports whether all objects of a resource were looked for, as far as what
// printed them says.
func (c *Cluster) sawAll(r *Resource) bool {
	return seenIn(c.complete, r)
}

func seenIn[V any](m map[string]V, r *Resource) bool {
	for key := range m {
		kind, group, _ := strings.Cut(key, ".")
		if kind == "IPAMConfiguration" { // as Calico's second group calls it
			kind = "IPAMConfig"
		}
		if kind == r.Kind && sameGroup(group, r.Group()) {
			return true
		}
	}
	return false
}

// Unread remembers a list that could not be read, and why: the report says so.
func (c *Cluster) Unread(what, why string) {
	c.unread = append(c.unread, strings.Join(strings.Fields(what+": "+why), " "))
}

// headed is the resource that a separator of CollectCommand's names, nil if it names
// none.
func headed(line []byte) *Resource {
	name, ok := strings.CutPrefix(string(line), heading)
	if !ok {
		return nil
	}
	return resourceOf(strings.TrimSpace(name))
}
