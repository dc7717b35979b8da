// Package resource has the kinds of objects that say something about addresses, as an API
// server lists them.
package resource

import (
	"slices"
	"strings"

	"ipamsim/scenarios/dump/evidence"
	"ipamsim/scenarios/dump/kept"
)

// Resource is a kind of object that says something about addresses.
type Resource struct {
	APIVersion, Plural, Kind string
	// Namespace and Only are of the one object that matters; "": all do.
	Namespace, Only string
	// Namespaced: its objects have namespaces.
	Namespaced bool
	By         Printer
	// As is what the first of the importer's groups calls the kind; "": the same.
	As string
	// First is the API group in which the same objects are first; see Second. dump.Resources
	// sets it.
	First string
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

// Name is the full name, as kubectl takes it: ippools.example.org.
func (r *Resource) Name() string { return strings.TrimSuffix(r.Plural+"."+r.Group(), ".") }

// order is that of the kinds that any cluster may have; "" are the managers' own.
var order = []string{
	"namespaces", "nodes", "configmaps", "daemonsets.apps", "deployments.apps", "statefulsets.apps", "cronjobs.batch",
	"network-attachment-definitions.k8s.cni.cncf.io", "", "jobs.batch", "pods",
}

// Sort puts resources in the order in which to read them.
func Sort(all []Resource) {
	place := func(r *Resource) int {
		if i := slices.Index(order, r.Name()); i >= 0 {
			return i
		}
		return slices.Index(order, "")
	}
	slices.SortStableFunc(all, func(a, b Resource) int { return place(&a) - place(&b) })
}

// Listed are the resources as evidence has them.
func Listed(all []Resource) (out []evidence.Resource) {
	for _, r := range all {
		out = append(out, evidence.Resource{
			APIVersion: r.APIVersion, Plural: r.Plural, Kind: r.Kind, As: r.As, Namespaced: r.Namespaced, Tool: r.By != Kubectl, One: r.Only != "",
		})
	}
	return out
}
