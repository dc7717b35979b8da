// Package whereabouts reads Whereabouts' record out of a dump: pools, reservations, node
// slices and the networks that it serves.
package whereabouts

import (
	"encoding/json"
	"regexp"
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/kept"
)

// Importer is Whereabouts'.
var Importer = &dump.Importer{
	Title: "Whereabouts", Sign: "Whereabouts pool or network",
	Resources: []dump.Resource{
		{APIVersion: "batch/v1", Plural: "cronjobs", Kind: "CronJob", Namespaced: true},
		{APIVersion: "k8s.cni.cncf.io/v1", Plural: "network-attachment-definitions", Kind: "NetworkAttachmentDefinition", Namespaced: true},
		{APIVersion: version, Plural: "ippools", Kind: "IPPool", Namespaced: true},
		{APIVersion: version, Plural: "overlappingrangeipreservations", Kind: "OverlappingRangeIPReservation", Namespaced: true},
		{APIVersion: version, Plural: "nodeslicepools", Kind: "NodeSlicePool", Namespaced: true},
	},
	Images:      []dump.Image{{Name: regexp.MustCompile(`(^|[/-])whereabouts(-cni)?$`), Tag: regexp.MustCompile(`^v?0\.[0-9]+`)}},
	Differences: differences,
	Open:        open, Objects: objectsOf,
}

// The API group, and what a CNI configuration calls the plugin.
const (
	group        = "whereabouts.cni.cncf.io"
	version      = group + "/v1alpha1"
	upstreamName = "whereabouts"
)

// kubeSystem is the default namespace of Whereabouts' objects, also in the simulation.
const kubeSystem = "kube-system"

// objects are what is kept of a dump.
type objects struct {
	*dump.Cluster
	attachments   kept.Objects[string] // configuration of each NetworkAttachmentDefinition
	rangePools    kept.Objects[rangePool]
	rangeReserved kept.Objects[rangeReservation]
	slicePools    kept.Objects[slicePool]
	cronJobs      kept.Objects[json.RawMessage] // those that run ip-reconciler
}

func open(c *dump.Cluster) *dump.Reading {
	o := &objects{
		Cluster: c, attachments: kept.Objects[string]{}, rangePools: kept.Objects[rangePool]{}, rangeReserved: kept.Objects[rangeReservation]{},
		slicePools: kept.Objects[slicePool]{}, cronJobs: kept.Objects[json.RawMessage]{},
	}
	return &dump.Reading{
		Add: o.add, Draft: o.draft, Kept: o, Concluded: o.concluded,
		Found: func() bool { return len(o.rangePools)+len(o.attachments)+len(o.rangeReserved)+len(o.slicePools) > 0 },
	}
}

func (c *objects) add(h *kept.Head, raw json.RawMessage) (kept bool, err error) {
	switch h.Kind {
	case "CronJob":
		return c.addCronJob(h, raw)
	case "NetworkAttachmentDefinition":
		return true, c.addAttachment(h, raw)
	case "IPPool":
		return true, c.addRangePool(h, raw)
	case "OverlappingRangeIPReservation":
		return true, c.addRangeReservation(h, raw)
	}
	return true, c.addSlicePool(h, raw)
}

// objectsOf are what pools, reservations and networks may be called.
func objectsOf(thing model.Ref, _ []model.Ref) []string {
	switch thing.Kind {
	case model.RefReservation:
		return []string{"OverlappingRangeIPReservation " + thing.Name}
	case model.RefPool:
		return []string{"IPPool " + thing.Name}
	case model.RefNetwork:
		return []string{"NetworkAttachmentDefinition " + thing.Name}
	}
	return nil
}

// What hangs on which resource, by names of invariants.
var (
	ofPods     = []string{invariant.DuplicateAddress.Name, invariant.LeakedClaim.Name, invariant.OutOfPool.Name, invariant.UnbackedSandbox.Name}
	ofRanges   = []string{invariant.DoubleClaim.Name, invariant.LeakedClaim.Name, invariant.UnbackedSandbox.Name}
	ofNetworks = []string{invariant.ExcludedAddress.Name, invariant.OutOfPool.Name}
	ofGuards   = []string{invariant.LeftoverReservation.Name, invariant.OverlapReservation.Name}
	ofSlices   = []string{invariant.SliceConflict.Name}
)

// concluded returns the resources that must lack an object for a violation to hold.
func (c *objects) concluded(v *model.Violation, _ *model.Snapshot) []string {
	const pools, definitions = "ippools." + group, "network-attachment-definitions.k8s.cni.cncf.io"
	switch v.Invariant {
	case invariant.LeakedClaim.Name: // a pod that is there may have the address in a network that is missing
		if p := c.Pods[model.Named(v.Objects, model.RefPod)]; p != nil && !p.Value.Finished() {
			return []string{definitions}
		}
	case invariant.UnbackedSandbox.Name, invariant.LeftoverReservation.Name: // a claim, or whose it is
		return []string{pools, definitions}
	case invariant.OverlapReservation.Name:
		if v.Code == invariant.NotReserved {
			return []string{"overlappingrangeipreservations." + group}
		}
	}
	return nil
}

// needs are what cannot be judged without a resource.
func (d *record) needs(r *dump.Resource) []string {
	switch r.Name() {
	case "pods":
		return ofPods
	case "network-attachment-definitions.k8s.cni.cncf.io":
		return ofNetworks
	case "ippools." + group:
		return ofRanges
	case "overlappingrangeipreservations." + group:
		if slices.ContainsFunc(d.networks, func(n network) bool { return n.overlap }) {
			return ofGuards
		}
	case "nodeslicepools." + group:
		if slices.ContainsFunc(d.networks, func(n network) bool { return n.sliced }) {
			return ofSlices
		}
	}
	return nil
}
