package cluster

import (
	"fmt"
	"maps"
	"strings"

	"ipamsim/sim/ipam"
)

// Object is a Kubernetes manifest as the scenario gave it.
type Object = ipam.Object

// resource is where objects of a kind live in the API.
type resource struct {
	root       string // "/api/v1" or "/apis/GROUP/VERSION"
	name       string // plural
	namespaced bool
	alias      bool // a second form of a kind that has the same resource
}

// path is the URL path of a collection, or of one object.
func (r resource) path(namespace, name string) string {
	p := r.root
	if r.namespaced && namespace != "" {
		p += "/namespaces/" + namespace
	}
	p += "/" + r.name
	if name != "" {
		p += "/" + name
	}
	return p
}

var builtin = map[string]resource{
	"Pod":         {"/api/v1", "pods", true, false},
	"Node":        {"/api/v1", "nodes", false, false},
	"Namespace":   {"/api/v1", "namespaces", false, false},
	"Service":     {"/api/v1", "services", true, false},
	"ConfigMap":   {"/api/v1", "configmaps", true, false},
	"Lease":       {"/apis/coordination.k8s.io/v1", "leases", true, false},
	"StatefulSet": {"/apis/apps/v1", "statefulsets", true, false},
	"Deployment":  {"/apis/apps/v1", "deployments", true, false},
	"DaemonSet":   {"/apis/apps/v1", "daemonsets", true, false},
	"Job":         {"/apis/batch/v1", "jobs", true, false},
	"CronJob":     {"/apis/batch/v1", "cronjobs", true, false},

	"NetworkAttachmentDefinition": {"/apis/k8s.cni.cncf.io/v1", "network-attachment-definitions", true, false},
}

// Kinds lists what a scenario may store: the built-in kinds and the custom ones
// of the adapter, by plural resource name.
func Kinds(m *ipam.Manager) (map[string]string, error) {
	kinds, err := kindsOf(m)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for k, r := range kinds {
		out[k] = r.name
	}
	return out, nil
}

// Namespaced reports whether objects of a kind live in a namespace.
func Namespaced(m *ipam.Manager, kind string) bool {
	kinds, err := kindsOf(m)
	return err == nil && kinds[kind].namespaced
}

// KindOf is the name under which Kinds lists the kind of a manifest: of two groups
// that have a kind of one name, one needs its group, as in
// IPPool.whereabouts.cni.cncf.io.
func KindOf[V any](kinds map[string]V, kind, apiVersion string) string {
	group, _, _ := strings.Cut(apiVersion, "/")
	if _, ok := kinds[kind+"."+group]; ok {
		return kind + "." + group
	}
	return kind
}

// kindsOf lists what is served by kind. Of two definitions with one kind the later one
// has its name.
func kindsOf(m *ipam.Manager) (map[string]resource, error) {
	crds, err := m.Definitions()
	if err != nil {
		return nil, fmt.Errorf("cluster: %s: %w", m.Name, err)
	}
	kinds := maps.Clone(builtin)
	for _, crd := range crds {
		kind := crd.Spec.Names.Kind
		if other, ok := kinds[kind]; ok && other.group() != crd.Spec.Group {
			kinds[kind+"."+other.group()] = other
		}
		for _, v := range crd.Spec.Versions {
			if v.Storage {
				kinds[kind] = resource{
					root: "/apis/" + crd.Spec.Group + "/" + v.Name,
					name: crd.Spec.Names.Plural, namespaced: crd.Spec.Scope == "Namespaced",
				}
			}
		}
	}
	for kind, forms := range m.Aliases {
		for _, f := range forms {
			if f.Kind != kind {
				r := kinds[kind]
				r.alias = true
				kinds[f.Kind] = r
			}
		}
	}
	return kinds, nil
}

// byName finds a resource and its kind by its plural name, with or without its
// group, as kubectl accepts it: ippools, ippools.whereabouts.cni.cncf.io.
func (c *Cluster) byName(name string) (resource, string, error) {
	for kind, r := range c.kinds {
		first := !strings.Contains(kind, ".") // see kindsOf
		if !r.alias && (r.name == name && first || r.name+"."+r.group() == name) {
			return r, kind, nil
		}
	}
	return resource{}, "", fmt.Errorf("the server doesn't have a resource type %q", name)
}

// keeps is the manager's own datastore, if it is where objects of a kind live.
func (c *Cluster) keeps(kind string) *ipam.Keep {
	if k := c.inst.Keep; k != nil && k.Keeps(kind) {
		return k
	}
	return nil
}

func (r resource) group() string {
	rest, _ := strings.CutPrefix(r.root, "/apis/")
	group, _, _ := strings.Cut(rest, "/")
	return group // "" for /api/v1
}

// orDefault is the namespace kubectl takes when none is said.
func orDefault(namespace string) string {
	if namespace == "" {
		return "default"
	}
	return namespace
}
