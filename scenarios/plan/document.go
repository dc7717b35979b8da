// Package plan is the file format of plans, kind: Plan, and what becomes of one: a
// cluster, the settings that are varied, and a point for each combination, each
// repetition and each engine. A point is run by the reference allocators
// (model/capacity) or, event by event the same, by the real code in a simulated
// cluster.
package plan

import (
	"ipamsim/model/route"
	"ipamsim/scenarios/plan/values"
)

// Kind of the document that turns manifests into a plan.
const Kind = "Plan"

// The engines.
const (
	Real      = "real"      // the real code, in a simulated cluster
	Reference = "reference" // the reference allocators, proven equal on sequential histories
	Both      = "both"      // the reference for every point, the real code for those small enough, compared
)

// Document is the Plan document of a file. Every other document of the file is an
// ordinary Kubernetes manifest, as in a scenario.
type Document struct {
	APIVersion string   `json:"apiVersion" jsonschema:"required,enum=ipamsim.dev/v1alpha1"`
	Kind       string   `json:"kind" jsonschema:"required,enum=Plan"`
	Metadata   Metadata `json:"metadata" jsonschema:"required"`
	Spec       Spec     `json:"spec" jsonschema:"required"`
}

// Metadata names the plan.
type Metadata struct {
	Name string `json:"name" jsonschema:"required"`
}

// Spec is what is asked.
type Spec struct {
	// Title is one line for people; Story is what is asked and why.
	Title string `json:"title,omitempty"`
	Story string `json:"story,omitempty"`
	// From is a scenario or what ipamsim import wrote, relative to this file: its
	// pools, networks, nodes, settings, fabric, and what is stored already. Without it
	// the manifests of this file are the cluster.
	From string `json:"from,omitempty" unset:"the cluster of the manifests in this file"`
	// IPAM is the address manager of a plan without from: calico or whereabouts.
	IPAM      string `json:"ipam,omitempty"`
	Datastore string `json:"datastore,omitempty" jsonschema:"enum=etcdv3,enum=kubernetes"`
	// Horizon is how far to look, e.g. 30d.
	Horizon values.Span `json:"horizon" jsonschema:"required"`
	// Repeats is the number of trials of each combination; default 100.
	Repeats int `json:"repeats,omitempty" unset:"100"`
	// Samples over the horizon; default 100.
	Samples int     `json:"samples,omitempty" unset:"100"`
	Seed    *uint64 `json:"seed,omitempty"` // default 1
	Engine  string  `json:"engine,omitempty" jsonschema:"enum=real,enum=reference,enum=both"`
	// Settings of every point, by name: see the list of settings in the README.
	Settings Settings `json:"settings,omitempty"`
	// Axes are varied together, each value of one with each of the others.
	Axes []Axis `json:"axes,omitempty"`
	// Options are varied instead of, or for each combination of, the axes: each is a
	// name and the settings that are otherwise. The first is what there is now.
	Options []Option     `json:"options,omitempty"`
	Want    Want         `json:"want,omitzero"`
	Fabric  route.Fabric `json:"fabric,omitzero"`
}

// Settings by name, as the file has them: blockSize: 26, lifetime: 12h.
type Settings map[string]any

// Axis is one setting with the values that it takes, in this order.
type Axis struct {
	Setting string `json:"setting" jsonschema:"required"`
	Values  []any  `json:"values" jsonschema:"required"`
}

// Option is one row of the answer.
type Option struct {
	Name string   `json:"name" jsonschema:"required"`
	Set  Settings `json:"set,omitempty"`
	Cost string   `json:"cost,omitempty"` // what it costs that no simulation sees, in words
}

// Want is what an option has to meet to be recommended, and what is best among
// those that do.
type Want struct {
	// Require bounds measures: exhaustion: 0.05, blackholed: 0, starved: 0.
	Require map[string]float64 `json:"require,omitempty"`
	// From is the time from which bounds apply, e.g. 10d; default: from the beginning for a cluster that is empty
	// then. For a running cluster: after the migration to an option and the time to settle.
	From values.Span `json:"from,omitzero"`
	// Minimise is a measure; default: routes for Calico, leaked for Whereabouts.
	Minimise string `json:"minimise,omitempty" unset:"the address manager's"`
}
