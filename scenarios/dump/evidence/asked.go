package evidence

import (
	"slices"
	"strings"

	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/dump/kept"
)

// byTool notes a list that a manager's own tool printed: it takes no selectors.
func (c *Book) byTool(l *decode.List) {
	key := Key(l.Kind, kept.GroupOf(l.APIVersion))
	for i := range c.resources {
		r := &c.resources[i]
		if r.Tool && r.Kind == l.Kind && kept.GroupOf(r.APIVersion) == kept.GroupOf(l.APIVersion) && !r.Namespaced && !l.Cut {
			c.lists[key] |= Said
		}
	}
}

// Counted compares the number of objects that a command counted with the list before it.
func (c *Book) Counted(resource string, n int) {
	r := c.resource(resource)
	if r == nil || c.last.Resource != resource {
		return
	}
	key, have := r.key(), 0
	for _, k := range c.last.Objects {
		have += k
	}
	if have == n {
		c.lists[key] |= Counted
	} else {
		c.cut[key] = true
	}
	c.last = decode.List{}
}

// asked notes what a command printed: of cluster-scoped resources all objects, of others all
// of its namespaces.
func (c *Book) asked(l *decode.List) {
	of := map[string]map[string]bool{} // namespaces by kind
	for o := range l.Objects {
		key := Key(o.Kind, kept.GroupOf(o.APIVersion))
		if of[key] == nil {
			of[key] = map[string]bool{}
		}
		of[key][o.Namespace] = true
	}
	all := c.typed(l.Asked.Resources, of)
	for key := range of {
		if !slices.ContainsFunc(all, func(r *Resource) bool { return r.key() == key }) && c.known(key) {
			return // the list is not what the command prints
		}
	}
	for _, r := range all {
		key := r.key()
		switch spaces := of[key]; {
		case r.Namespaced && !l.Asked.All && l.Asked.Namespace != "":
			c.spaced[kindIn{key, l.Asked.Namespace}] = true
		case r.Namespaced && !l.Asked.All:
			if len(spaces) == 1 {
				c.spaced[kindIn{key, kept.Keys(spaces)[0]}] = true
			}
		default:
			c.lists[key] |= Said
			c.none[key] = len(spaces) == 0
		}
		c.seen(key)
	}
}

// known reports whether objects of a kind are read.
func (c *Book) known(key string) bool {
	return slices.ContainsFunc(c.resources, func(r Resource) bool { return !r.One && r.key() == key })
}

// everything is what kubectl get all prints.
//
// Source: k8s.io/kubernetes, categories of the resources of core, apps and batch.
var everything = []string{"pods", "services", "daemonsets.apps", "deployments.apps", "statefulsets.apps", "jobs.batch", "cronjobs.batch"}

// shortNames of resources that are read.
var shortNames = map[string]string{
	"po": "pods", "no": "nodes", "ns": "namespaces", "svc": "services", "cm": "configmaps", "ds": "daemonsets", "deploy": "deployments", "sts": "statefulsets",
	"cj": "cronjobs", "net-attach-def": "network-attachment-definitions", "ip": "ipaddresses", "wep": "workloadendpoints",
}

// typed returns the typed resources. A name that several groups have refers to the groups with objects in
// the list.
func (c *Book) typed(names []string, of map[string]map[string]bool) (out []*Resource) {
	if slices.Contains(names, "all") {
		names = slices.Concat(names, everything)
	}
	for _, name := range names {
		var found []*Resource
		for i := range c.resources {
			if r := &c.resources[i]; !r.One && r.called(name) {
				found = append(found, r)
			}
		}
		for _, r := range found {
			if _, has := of[r.key()]; has || len(found) == 1 {
				out = append(out, r)
			}
		}
	}
	return out
}

// called reports whether a name that was typed may be that of the resource.
func (r *Resource) called(name string) bool {
	plain, group, full := strings.Cut(name, ".")
	if s, ok := shortNames[plain]; ok {
		plain = s
	}
	kind := strings.ToLower(r.Kind)
	if plain != r.Plural && plain != kind && plain+"s" != r.Plural {
		return false
	}
	if version, rest, ok := strings.Cut(r.APIVersion, "/"); ok && full { // ippools.v1.crd.projectcalico.org
		return group == version || group == rest+"."+version
	}
	return !full
}
