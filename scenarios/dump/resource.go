package dump

import (
	"encoding/json"
	"slices"

	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/resource"
	"ipamsim/sim/ipam"
)

// Resource is a kind of object that an importer reads.
type Resource = resource.Resource

// The printers.
const (
	Kubectl = resource.Kubectl
	Second  = resource.Second
	Tool    = resource.Tool
)

// kubernetes are the kinds that are read whatever the manager is.
var kubernetes = []struct {
	Resource
	add func(*Cluster, *kept.Head, json.RawMessage) error
}{
	{Resource{APIVersion: "v1", Plural: "namespaces", Kind: "Namespace"}, (*Cluster).addNamespace},
	{Resource{APIVersion: "v1", Plural: "nodes", Kind: "Node"}, (*Cluster).addNode},
	{Resource{APIVersion: "apps/v1", Plural: "daemonsets", Kind: "DaemonSet", Namespaced: true}, (*Cluster).addWorkload},
	{Resource{APIVersion: "apps/v1", Plural: "deployments", Kind: "Deployment", Namespaced: true}, (*Cluster).addWorkload},
	{Resource{APIVersion: "apps/v1", Plural: "statefulsets", Kind: "StatefulSet", Namespaced: true}, (*Cluster).addWorkload},
	{Resource{APIVersion: "batch/v1", Plural: "jobs", Kind: "Job", Namespaced: true}, (*Cluster).addWorkload},
	{Resource{APIVersion: "k8s.cni.cncf.io/v1", Plural: "network-attachment-definitions", Kind: "NetworkAttachmentDefinition", Namespaced: true}, func(c *Cluster, h *kept.Head, raw json.RawMessage) error { return c.reports.AddNetwork(h, raw) }},
	{Resource{APIVersion: "v1", Plural: "services", Kind: "Service", Namespaced: true}, func(c *Cluster, h *kept.Head, raw json.RawMessage) error { return c.reports.AddService(h, raw) }},
	{Resource{APIVersion: "v1", Plural: "pods", Kind: "Pod", Namespaced: true}, (*Cluster).addPod},
}

// Resources are all that is read with the managers, in the order in which to read them:
// pods last, because what was claimed before they were listed and is given up by then shows
// as leaked, while what they have claimed since would show as a pod without a claim.
func Resources(managers []*ipam.Manager) []Resource {
	var all []Resource
	for _, k := range kubernetes {
		all = append(all, k.Resource)
	}
	for _, m := range importable(managers) {
		i, _ := ipam.Part[*Importer](m)
		for _, r := range i.Resources {
			if len(i.Groups) > 0 {
				r.First = i.Groups[0]
			}
			if !slices.ContainsFunc(all, func(o Resource) bool { return o.Name() == r.Name() && o.Only == r.Only }) {
				all = append(all, r)
			}
		}
	}
	resource.Sort(all)
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
