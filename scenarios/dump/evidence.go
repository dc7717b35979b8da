package dump

import (
	"slices"
	"strings"

	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/dump/kept"
)

// Evidence is what shows that a dump has all objects of a resource. That an object is not in
// the dump says nothing without it: kubectl prints the same List for all namespaces, for one
// and for a selector.
type Evidence int

// The kinds of evidence. Said: the command that printed the list, by a prompt, a comment, a
// heading or the name of the file. Counted: the reader has asked the API server itself, or
// the list has as many objects as the command counted. A list that was edited since is Said
// to be complete, and is not Counted.
const (
	Said Evidence = 1 << iota
	Counted
)

// evidence is that of a resource, by its full name. An object that is not in a list that is
// said to be complete contradicts it, as does a list that was cut.
func (c *Cluster) evidence(name string) Evidence {
	var out Evidence
	for key, e := range c.lists {
		if !c.isOf(key, name) {
			continue
		}
		if out |= e; c.cut[key] || e&Counted == 0 && c.none[key] && c.read[key] > 0 {
			return 0
		}
	}
	return out
}

// inNamespace reports whether a command printed all objects that a namespace has of a
// resource.
func (c *Cluster) inNamespace(name, namespace string) bool {
	for of := range c.spaced {
		if of.namespace == namespace && c.isOf(of.kind, name) && !c.cut[of.kind] {
			return true
		}
	}
	return false
}

// kindIn is a kind in a namespace.
type kindIn struct{ kind, namespace string }

// All reports whether the dump shows that it has all objects that a namespace has of a
// resource. A list that is said to be of all namespaces and has nothing of this one may
// have been edited.
func (c *Cluster) All(name, namespace string, shown bool) bool {
	e := c.evidence(name)
	return e&Counted != 0 || e&Said != 0 && shown || c.inNamespace(name, namespace)
}

// byTool notes a list that a manager's own tool printed: it takes no selectors.
func (c *Cluster) byTool(l *decode.List) {
	key := kindKey(l.Kind, kept.GroupOf(l.APIVersion))
	for i := range c.resources {
		r := &c.resources[i]
		if r.By != Kubectl && r.Kind == l.Kind && r.Group() == kept.GroupOf(l.APIVersion) && !r.Namespaced && !l.Cut {
			c.lists[key] |= Said
		}
	}
}

// counted compares the number of objects that a command counted with the list before it.
func (c *Cluster) counted(resource string, n int) {
	r := c.Resource(resource)
	if r == nil || c.last.Resource != resource {
		return
	}
	key, have := kindKey(r.Kind, r.Group()), 0
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
func (c *Cluster) asked(l *decode.List) {
	of := map[string]map[string]bool{} // namespaces by kind
	for o := range l.Objects {
		key := kindKey(o.Kind, kept.GroupOf(o.APIVersion))
		if of[key] == nil {
			of[key] = map[string]bool{}
		}
		of[key][o.Namespace] = true
	}
	all := c.typed(l.Asked.Resources, of)
	for key := range of {
		if !slices.ContainsFunc(all, func(r *Resource) bool { return kindKey(r.Kind, r.Group()) == key }) && c.known(key) {
			return // the list is not what the command prints
		}
	}
	for _, r := range all {
		key := kindKey(r.Kind, r.Group())
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
func (c *Cluster) known(key string) bool {
	return slices.ContainsFunc(c.resources, func(r Resource) bool { return r.Only == "" && kindKey(r.Kind, r.Group()) == key })
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

// typed are the resources that were typed. A name that several groups have is of those of
// which the list has objects.
func (c *Cluster) typed(names []string, of map[string]map[string]bool) (out []*Resource) {
	if slices.Contains(names, "all") {
		names = slices.Concat(names, everything)
	}
	for _, name := range names {
		var found []*Resource
		for i := range c.resources {
			if r := &c.resources[i]; r.Only == "" && r.called(name) {
				found = append(found, r)
			}
		}
		for _, r := range found {
			if _, has := of[kindKey(r.Kind, r.Group())]; has || len(found) == 1 {
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
