package dump

import (
	"encoding/json"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/kept"
	"ipamsim/sim/ipam"
)

// Resource is a kind of object that says something about addresses, as an API server
// lists it.
type Resource struct {
	APIVersion, Plural, Kind string
	// Namespace and Only are of the one object that matters; "": all do.
	Namespace, Only string
	// Namespaced: its objects have namespaces.
	Namespaced bool
	By         Printer
	// As is what the first of the Importer's Groups calls the kind; "": the same.
	As string

	first string // of Importer.Groups
	add   func(*Cluster, *kept.Head, json.RawMessage) error
}

// Printer is the tool that prints a resource.
type Printer int

// The printers.
const (
	Kubectl Printer = iota
	Second          // kubectl, where the API server does not serve the first of the manager's groups
	Tool            // the manager's own tool only
)

// Group is the API group; "" for the core group.
func (r *Resource) Group() string { return kept.GroupOf(r.APIVersion) }

// First is the API group in which the same objects are first; see Second.
func (r *Resource) First() string { return r.first }

// Name is the full name, as kubectl takes it: ippools.example.org.
func (r *Resource) Name() string { return strings.TrimSuffix(r.Plural+"."+r.Group(), ".") }

// order is that of the kinds that any cluster may have; "" are the managers' own.
var order = []string{
	"namespaces", "nodes", "configmaps", "daemonsets.apps", "deployments.apps", "statefulsets.apps", "cronjobs.batch",
	"network-attachment-definitions.k8s.cni.cncf.io", "", "jobs.batch", "pods",
}

// kubernetes are the kinds that are read whatever the manager is.
var kubernetes = []Resource{
	{APIVersion: "v1", Plural: "namespaces", Kind: "Namespace", add: (*Cluster).addNamespace},
	{APIVersion: "v1", Plural: "nodes", Kind: "Node", add: (*Cluster).addNode},
	{APIVersion: "apps/v1", Plural: "daemonsets", Kind: "DaemonSet", Namespaced: true, add: (*Cluster).addWorkload},
	{APIVersion: "apps/v1", Plural: "deployments", Kind: "Deployment", Namespaced: true, add: (*Cluster).addWorkload},
	{APIVersion: "apps/v1", Plural: "statefulsets", Kind: "StatefulSet", Namespaced: true, add: (*Cluster).addWorkload},
	{APIVersion: "batch/v1", Plural: "jobs", Kind: "Job", Namespaced: true, add: (*Cluster).addWorkload},
	{APIVersion: "k8s.cni.cncf.io/v1", Plural: "network-attachment-definitions", Kind: "NetworkAttachmentDefinition", Namespaced: true, add: func(c *Cluster, h *kept.Head, raw json.RawMessage) error { return c.reports.AddNetwork(h, raw) }},
	{APIVersion: "v1", Plural: "services", Kind: "Service", Namespaced: true, add: func(c *Cluster, h *kept.Head, raw json.RawMessage) error { return c.reports.AddService(h, raw) }},
	{APIVersion: "v1", Plural: "pods", Kind: "Pod", Namespaced: true, add: (*Cluster).addPod},
}

// Resources are all that is read with the managers, in the order in which to read them:
// pods last, because what was claimed before they were listed and is given up by then shows
// as leaked, while what they have claimed since would show as a pod without a claim.
func Resources(managers []*ipam.Manager) []Resource {
	all := slices.Clone(kubernetes)
	for _, m := range importable(managers) {
		i, _ := ipam.Part[*Importer](m)
		for _, r := range i.Resources {
			if len(i.Groups) > 0 {
				r.first = i.Groups[0]
			}
			if !slices.ContainsFunc(all, func(o Resource) bool { return o.Name() == r.Name() && o.Only == r.Only }) {
				all = append(all, r)
			}
		}
	}
	place := func(r *Resource) int {
		if i := slices.Index(order, r.Name()); i >= 0 {
			return i
		}
		return slices.Index(order, "")
	}
	slices.SortStableFunc(all, func(a, b Resource) int { return place(&a) - place(&b) })
	return all
}

// takers are what take an object; none for a kind that nothing is kept of.
func (c *Cluster) takers(h *kept.Head) (out []func(*kept.Head, json.RawMessage) (bool, error)) {
	for i := range kubernetes {
		r := &kubernetes[i]
		if r.Kind == h.Kind && r.Group() == h.Group() {
			out = append(out, func(h *kept.Head, raw json.RawMessage) (bool, error) { return true, r.add(c, h, raw) })
		}
	}
	for _, r := range c.readings {
		for i := range r.importer.Resources {
			if x := &r.importer.Resources[i]; x.Kind == h.Kind && r.importer.same(x.Group(), h.Group()) {
				out = append(out, r.Add)
				break
			}
		}
	}
	return out
}

// same reports whether two API groups show the same objects.
func (i *Importer) same(a, b string) bool {
	return a == b || slices.Contains(i.Groups, a) && slices.Contains(i.Groups, b)
}

// sameGroup is same for any of the managers.
func (c *Cluster) sameGroup(a, b string) bool {
	return a == b || slices.ContainsFunc(c.readings, func(r *reading) bool { return r.importer.same(a, b) })
}

// leading reports whether a group is the preferred one of a manager.
func (c *Cluster) leading(group string) bool {
	return slices.ContainsFunc(c.readings, func(r *reading) bool { return len(r.importer.Groups) > 0 && r.importer.Groups[0] == group })
}

// Resource finds a resource by its full name, nil if nothing is read of it.
func (c *Cluster) Resource(name string) *Resource {
	i := slices.IndexFunc(c.resources, func(r Resource) bool { return r.Name() == name })
	if i < 0 {
		return nil
	}
	return &c.resources[i]
}

// Show is the command line by which a manager's own tool shows a resource that kubectl
// cannot show; "": kubectl can.
func (c *Cluster) Show(r *Resource) string {
	for _, x := range c.readings {
		if x.Show != nil {
			if line := x.Show(r); line != "" {
				return line
			}
		}
	}
	return ""
}
