// Package metallb reads MetalLB's configuration out of a dump, as objects or as the ConfigMap
// that it had before 0.13, and judges the addresses of Services of type LoadBalancer by it.
//
// Source of what it knows of MetalLB: go.universe.tf/metallb v0.16.2, unless another is named.
package metallb

import (
	"encoding/json"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports/imported"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/kept"
)

// Importer is MetalLB's.
var Importer = &dump.Importer{
	Title: "MetalLB", Sign: "IPAddressPool of MetalLB",
	Resources: []dump.Resource{
		{APIVersion: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespace: system, Only: configName},
		{APIVersion: version, Plural: "ipaddresspools", Kind: "IPAddressPool", Namespaced: true},
		{APIVersion: version, Plural: "l2advertisements", Kind: "L2Advertisement", Namespaced: true},
		{APIVersion: version, Plural: "bgpadvertisements", Kind: "BGPAdvertisement", Namespaced: true},
		{APIVersion: group + "/v1beta2", Plural: "bgppeers", Kind: "BGPPeer", Namespaced: true},
		{APIVersion: version, Plural: "servicel2statuses", Kind: "ServiceL2Status", Namespaced: true},
		{APIVersion: "v1", Plural: "namespaces", Kind: "Namespace"},
		{APIVersion: "v1", Plural: "nodes", Kind: "Node"},
		{APIVersion: "v1", Plural: "services", Kind: "Service", Namespaced: true},
		{APIVersion: "v1", Plural: "pods", Kind: "Pod", Namespaced: true},
	},
	Programs: []string{"controller"}, Apart: true, Balances: true, Judged: judged,
	Open: open, Objects: objectsOf, Check: check,
}

var judged = []string{
	invariant.DisallowedLoadBalancerIP.Name, invariant.DuplicateLoadBalancerIP.Name, invariant.SurplusLoadBalancerIP.Name, invariant.UnservedLoadBalancer.Name,
}

// Where MetalLB's objects are, and their API.
const (
	system     = "metallb-system"
	configName = "config"
	group      = "metallb.io"
	version    = group + "/v1beta1"

	poolsName      = "ipaddresspools." + group
	layer2Name     = "l2advertisements." + group
	bgpName        = "bgpadvertisements." + group
	peersName      = "bgppeers." + group
	servicesName   = "services"
	namespacesName = "namespaces"
	nodesName      = "nodes"
)

// objects are what is kept of a dump.
type objects struct {
	*dump.Cluster
	pools      kept.Objects[poolSpec] // by namespace/name
	config     kept.Objects[[]poolSpec]
	adverts    map[string]kept.Objects[advertisement] // by resource
	peers      kept.Objects[peer]
	announced  kept.Objects[announcement]      // ServiceL2Statuses
	namespaces kept.Objects[map[string]string] // labels
	nodes      kept.Objects[map[string]string] // labels
	services   kept.Objects[service]           // of type LoadBalancer
	classes    map[string]bool                 // that controllers are started with; "": none

	made *record // the last one
}

func open(c *dump.Cluster) *dump.Reading {
	o := &objects{
		Cluster: c, pools: kept.Objects[poolSpec]{}, config: kept.Objects[[]poolSpec]{}, announced: kept.Objects[announcement]{},
		adverts: map[string]kept.Objects[advertisement]{layer2Name: {}, bgpName: {}},
		classes: map[string]bool{}, peers: kept.Objects[peer]{},
		namespaces: kept.Objects[map[string]string]{}, nodes: kept.Objects[map[string]string]{}, services: kept.Objects[service]{},
	}
	return &dump.Reading{Add: o.add, Found: o.found, Draft: o.draft, Concluded: o.concluded, Words: o.words, Doubts: o.doubts, Forget: o.forget}
}

func (o *objects) found() bool { return len(o.pools)+len(o.config) > 0 }

func (o *objects) forget() {
	o.announced, o.namespaces, o.nodes, o.adverts, o.peers = nil, nil, nil, nil, nil
}

func (o *objects) add(h *kept.Head, raw json.RawMessage) (bool, error) {
	switch h.Kind {
	case "ConfigMap":
		return o.addConfig(h, raw)
	case "IPAddressPool":
		return true, o.addPool(h, raw)
	case "L2Advertisement":
		return true, o.addAdvertisement(layer2Name, h, raw)
	case "BGPAdvertisement":
		return true, o.addAdvertisement(bgpName, h, raw)
	case "BGPPeer":
		return true, o.addPeer(h, raw)
	case "ServiceL2Status":
		return true, o.addAnnouncement(h, raw)
	case "Pod":
		return false, o.addController(h, raw)
	case "Namespace":
		return true, kept.Put(o.Store, o.namespaces, h.Metadata.Name, h, o.Labels(h.Metadata.Labels))
	case "Node":
		return true, kept.Put(o.Store, o.nodes, h.Metadata.Name, h, o.Labels(h.Metadata.Labels))
	}
	return o.addService(h, raw)
}

// doubts reports LoadBalancer Services that have an address, or wait for one, of an unknown
// manager: it may be MetalLB, whose pools the dump lacks.
func (o *objects) doubts(d *dump.Draft) []scenarios.Unjudged {
	of := func(key string) bool {
		s := &o.services[key].Value
		return !s.Cloud && !s.Named && s.Spec.LoadBalancerClass == nil
	}
	if o.Balancers() > 0 || o.SawAll(poolsName) || !slices.ContainsFunc(o.services.Keys(), of) {
		return nil
	}
	d.Unknown("the manager of LoadBalancer addresses: the dump has neither IPAddressPools of MetalLB nor pools of another manager")
	return []scenarios.Unjudged{{What: judged, Without: []string{poolsName}}}
}

// objectsOf are what pools and Services may be called.
func objectsOf(thing model.Ref, _ []model.Ref) []string {
	switch thing.Kind {
	case model.RefPool:
		return []string{"IPAddressPool " + thing.Name, "ConfigMap " + system + "/" + configName}
	case model.RefService:
		return []string{"Service " + thing.Name}
	}
	return nil
}

// check shows what the Services have now, and what the pools and advertisements are.
func check(v *model.Violation) string {
	if !slices.Contains(judged, v.Invariant) && (v.Invariant != imported.Exhausted || !strings.HasPrefix(v.Code, waits)) {
		return ""
	}
	switch v.Code {
	case poolsOverlap:
		return "kubectl get " + poolsName + " --all-namespaces -o custom-columns=NAME:.metadata.name,ADDRESSES:.spec.addresses shows the pools now"
	case notAnnounced, notPeered:
		return "kubectl get " + layer2Name + "," + bgpName + "," + peersName + " --all-namespaces -o yaml shows the advertisements now"
	}
	return "kubectl get services --all-namespaces -o 'custom-columns=NS:.metadata.namespace,NAME:.metadata.name,TYPE:.spec.type,IPS:.status.loadBalancer.ingress[*].ip' shows what they have now"
}
