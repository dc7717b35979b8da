package dump

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ipamsim/model/invariant"
)

// Resource is a kind of object that says something about addresses, as an API server
// lists it.
type Resource struct {
	APIVersion, Plural, Kind string
	// Namespace and Only are of the one object that matters; "": all do.
	Namespace, Only string
	By              Printer
	// Calico, Whereabouts: what cannot be judged of that manager without these objects,
	// by names of invariants.
	Calico, Whereabouts []string

	add func(*Cluster, *head, json.RawMessage) error
}

// Printer is who shows a resource.
type Printer int

// The printers.
const (
	Kubectl   Printer = iota
	Second            // kubectl, where the API server does not serve the same kind in Calico's first group
	Calicoctl         // calicoctl only
)

// Group is the API group; "" for the core group.
func (r *Resource) Group() string { return groupOf(r.APIVersion) }

func groupOf(apiVersion string) string {
	g, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return g
}

// Name is the full name, as kubectl takes it: ippools.crd.projectcalico.org.
func (r *Resource) Name() string { return strings.TrimSuffix(r.Plural+"."+r.Group(), ".") }

// kindKey is how objects of a kind are counted.
func kindKey(kind, group string) string {
	if group == "" {
		return kind
	}
	return kind + "." + group
}

// The API groups and their versions.
const (
	calicoGroup   = "crd.projectcalico.org"
	calicoVersion = calicoGroup + "/v1"
	secondGroup   = "projectcalico.org" // what calicoctl and Calico's own API server call it
	secondVersion = secondGroup + "/v3"
	rangeVersion  = "whereabouts.cni.cncf.io/v1alpha1"
)

// Resources are all that is read, in the order in which to read them: pods last, because
// what was claimed before they were listed and is given up by then shows as leaked, while
// what they have claimed since would show as a pod without a claim.
func Resources() []Resource { return resources }

// What hangs on which resource.
var (
	ofPods = []string{
		invariant.DuplicateAddress.Name, invariant.LeakedClaim.Name, invariant.OutOfPool.Name, invariant.UnbackedSandbox.Name,
	}
	ofCalicosPods = append([]string{invariant.BlackholedAddress.Name}, ofPods...)
	ofNodes       = []string{invariant.BlackholedAddress.Name, invariant.LeakedAffinity.Name, invariant.StarvedNode.Name}
	ofRoutes      = []string{invariant.BlackholedAddress.Name}
	ofBlocks      = slices.Concat(ofCalicosPods, ofNodes, ofAffinities, ofHandles, ofReserved, ofConfig, []string{
		invariant.BlockOwner.Name, invariant.DoubleClaim.Name, invariant.OverlappingBlocks.Name,
	})
	ofAffinities = []string{invariant.AffinityMismatch.Name, invariant.LeakedAffinity.Name}
	ofHandles    = []string{invariant.HandleCount.Name, invariant.LeftoverHandle.Name}
	ofPools      = []string{invariant.BlackholedAddress.Name, invariant.OutOfPool.Name, invariant.StarvedNode.Name}
	ofReserved   = []string{invariant.ExcludedAddress.Name}
	ofConfig     = []string{invariant.MaxBlocks.Name, invariant.StrictAffinity.Name}
	ofRanges     = []string{invariant.DoubleClaim.Name, invariant.LeakedClaim.Name, invariant.UnbackedSandbox.Name}
	ofNetworks   = []string{invariant.ExcludedAddress.Name, invariant.OutOfPool.Name}
	ofGuards     = []string{invariant.LeftoverReservation.Name, invariant.OverlapReservation.Name}
	ofSlices     = []string{invariant.SliceConflict.Name}
)

var resources = []Resource{
	{APIVersion: "v1", Plural: "namespaces", Kind: "Namespace", add: (*Cluster).addNamespace},
	{APIVersion: "v1", Plural: "nodes", Kind: "Node", Calico: ofNodes, add: (*Cluster).addNode},
	{APIVersion: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespace: "kube-system", Only: "calico-config", add: (*Cluster).addConfigMap},
	{APIVersion: "apps/v1", Plural: "daemonsets", Kind: "DaemonSet", add: (*Cluster).addWorkload},
	{APIVersion: "apps/v1", Plural: "deployments", Kind: "Deployment", add: (*Cluster).addWorkload},
	{APIVersion: "apps/v1", Plural: "statefulsets", Kind: "StatefulSet", add: (*Cluster).addWorkload},
	{APIVersion: "batch/v1", Plural: "cronjobs", Kind: "CronJob", add: (*Cluster).addCronJob},
	{APIVersion: "k8s.cni.cncf.io/v1", Plural: "network-attachment-definitions", Kind: "NetworkAttachmentDefinition", Whereabouts: ofNetworks, add: (*Cluster).addAttachment},
	{APIVersion: calicoVersion, Plural: "clusterinformations", Kind: "ClusterInformation", add: (*Cluster).addInformation},
	{APIVersion: calicoVersion, Plural: "ippools", Kind: "IPPool", Calico: ofPools, add: (*Cluster).addPool},
	{APIVersion: calicoVersion, Plural: "ipreservations", Kind: "IPReservation", Calico: ofReserved, add: (*Cluster).addReservation},
	{APIVersion: calicoVersion, Plural: "ipamconfigs", Kind: "IPAMConfig", Calico: ofConfig, add: (*Cluster).addConfig},
	{APIVersion: calicoVersion, Plural: "kubecontrollersconfigurations", Kind: "KubeControllersConfiguration", add: (*Cluster).addControllers},
	{APIVersion: calicoVersion, Plural: "bgpconfigurations", Kind: "BGPConfiguration", Calico: ofRoutes, add: (*Cluster).addBGP},
	{APIVersion: calicoVersion, Plural: "bgppeers", Kind: "BGPPeer", Calico: ofRoutes, add: (*Cluster).addPeer},
	{APIVersion: calicoVersion, Plural: "blockaffinities", Kind: "BlockAffinity", Calico: ofAffinities, add: (*Cluster).addAffinity},
	{APIVersion: calicoVersion, Plural: "ipamblocks", Kind: "IPAMBlock", Calico: ofBlocks, add: (*Cluster).addBlock},
	{APIVersion: calicoVersion, Plural: "ipamhandles", Kind: "IPAMHandle", Calico: ofHandles, add: (*Cluster).addHandle},
	{APIVersion: secondVersion, Plural: "clusterinformations", Kind: "ClusterInformation", By: Second, add: (*Cluster).addInformation},
	{APIVersion: secondVersion, Plural: "ippools", Kind: "IPPool", By: Second, add: (*Cluster).addPool},
	{APIVersion: secondVersion, Plural: "ipreservations", Kind: "IPReservation", By: Second, add: (*Cluster).addReservation},
	{APIVersion: secondVersion, Plural: "ipamconfigurations", Kind: "IPAMConfiguration", By: Second, add: (*Cluster).addConfig},
	{APIVersion: secondVersion, Plural: "kubecontrollersconfigurations", Kind: "KubeControllersConfiguration", By: Second, add: (*Cluster).addControllers},
	{APIVersion: secondVersion, Plural: "bgpconfigurations", Kind: "BGPConfiguration", By: Second, add: (*Cluster).addBGP},
	{APIVersion: secondVersion, Plural: "bgppeers", Kind: "BGPPeer", By: Second, add: (*Cluster).addPeer},
	{APIVersion: secondVersion, Plural: "blockaffinities", Kind: "BlockAffinity", By: Second, add: (*Cluster).addAffinity},
	{APIVersion: secondVersion, Plural: "nodes", Kind: "Node", By: Calicoctl, add: (*Cluster).addCalicoNode},
	{APIVersion: secondVersion, Plural: "workloadendpoints", Kind: "WorkloadEndpoint", By: Calicoctl, add: (*Cluster).addEndpoint},
	{APIVersion: rangeVersion, Plural: "ippools", Kind: "IPPool", Whereabouts: ofRanges, add: (*Cluster).addRangePool},
	{APIVersion: rangeVersion, Plural: "overlappingrangeipreservations", Kind: "OverlappingRangeIPReservation", Whereabouts: ofGuards, add: (*Cluster).addRangeReservation},
	{APIVersion: rangeVersion, Plural: "nodeslicepools", Kind: "NodeSlicePool", Whereabouts: ofSlices, add: (*Cluster).addSlicePool},
	{APIVersion: "batch/v1", Plural: "jobs", Kind: "Job", add: (*Cluster).addWorkload},
	{APIVersion: "v1", Plural: "pods", Kind: "Pod", Calico: ofCalicosPods, Whereabouts: ofPods, add: (*Cluster).addPod},
}

// reader is what takes an object, nil for a kind that nothing is kept of.
func reader(h *head) func(*Cluster, *head, json.RawMessage) error {
	for i := range resources {
		if r := &resources[i]; r.Kind == h.Kind && sameGroup(r.Group(), h.group()) {
			return r.add
		}
	}
	return nil
}

// sameGroup takes Calico's two groups for one: they show the same objects.
func sameGroup(a, b string) bool {
	calicos := func(g string) bool { return g == calicoGroup || g == secondGroup }
	return a == b || calicos(a) && calicos(b)
}

// resourceOf finds a resource by its full name, nil if nothing is read of it.
func resourceOf(name string) *Resource {
	for i := range resources {
		if resources[i].Name() == name {
			return &resources[i]
		}
	}
	return nil
}

// heading begins, in the output of CollectCommand, what kubectl prints of the resource
// that follows it on the line. kubectl itself does not say of which kind a list is that
// is empty.
const heading = "--- # "

// CollectCommand is a command line for a POSIX shell that writes resources to a file,
// each under its name: those whose full names are given, or without any all that
// kubectl shows. kubectl says what the cluster does not have.
func CollectCommand(file string, names ...string) string {
	var all, apart []string
	for i := range resources {
		r := &resources[i]
		switch {
		case r.By != Kubectl || len(names) > 0 && !slices.Contains(names, r.Name()):
		case r.Only != "":
			apart = append(apart, fmt.Sprintf(`echo "%s%s"; kubectl get %s -n %s --field-selector metadata.name=%s -o yaml; `, heading, r.Name(), r.Name(), r.Namespace, r.Only))
		default:
			all = append(all, r.Name())
		}
	}
	loop := fmt.Sprintf(`for r in %s; do echo "%s$r"; kubectl get $r --all-namespaces -o yaml; done`, strings.Join(all, " "), heading)
	if len(apart) == 0 {
		return loop + " > " + file
	}
	return "{ " + strings.Join(apart, "") + loop + "; } > " + file
}
