// Package calico reads Calico's record out of a dump: blocks, pools, affinities and
// handles, as kubectl or calicoctl print them, from either datastore.
package calico

import (
	"encoding/json"
	"net/netip"
	"regexp"
	"strings"

	"ipamsim/model"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/calico/printed"
	"ipamsim/scenarios/dump/kept"
)

// Importer is Calico's.
var Importer = &dump.Importer{
	Title: "Calico", Sign: "Calico IPPool", Tool: "calicoctl",
	Prints:    []string{"calicoctl get -o yaml", "calicoctl ipam show, with --show-blocks, --show-borrowed, --show-configuration", "calicoctl ipam check, its text and with -o its report", "calicoctl datastore migrate export", "etcdctl get --prefix /calico/ipam, plain and with -w json or -w fields"},
	Marks:     []string{"| GROUPING |", "| BORROWING-NODE |", "| PROPERTY ", checking, `"clusterGUID":`, `"block_affinities":`, etcdRoot},
	Resources: resources, Groups: []string{group, secondGroup},
	PodNotes: podNotes, NodeNotes: nodeNotes,
	// Rebuilders' names match, too: docker.io/calico/node, rancher/mirrored-calico-node. A tag of another
	// scheme, such as calico-node:1.17 of a company that counts for itself, is not a version: since the
	// current format of its record, Calico's versions have three numbers, the first of them 3.
	Images:      []dump.Image{{Name: regexp.MustCompile(`(^|[/-])calico[/-](node|cni|kube-controllers)$`), Tag: regexp.MustCompile(`^v?3\.[0-9]+\.[0-9]+`)}},
	Differences: differences,
	Open:        open, Written: written,
	KeptOfNode:    func(key string) bool { return keptNotes[strings.TrimPrefix(key, nodeNotes)] },
	NodeAddresses: []string{nodeNotes + "IPv4Address", nodeNotes + "IPv6Address"},
	Note:          note, Objects: objectsOf,
}

// The API groups and their versions.
const (
	group         = "crd.projectcalico.org"
	version       = group + "/v1"
	secondGroup   = "projectcalico.org" // what calicoctl and Calico's own API server call it
	secondVersion = secondGroup + "/v3"
)

// What the first line of calicoctl ipam check says, and where etcd has Calico's record.
const (
	checking = "Checking IPAM for inconsistencies"
	etcdRoot = "/calico/ipam/v2/"
)

// The annotations of pods and nodes.
const (
	podNotes      = "cni.projectcalico.org/"
	containerNote = podNotes + "containerID"
	nodeNotes     = "projectcalico.org/"
)

var resources = []dump.Resource{
	{APIVersion: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespace: "kube-system", Only: "calico-config"},
	{APIVersion: version, Plural: "clusterinformations", Kind: "ClusterInformation"},
	{APIVersion: version, Plural: "ippools", Kind: "IPPool"},
	{APIVersion: version, Plural: "ipreservations", Kind: "IPReservation"},
	{APIVersion: version, Plural: "ipamconfigs", Kind: "IPAMConfig"},
	{APIVersion: version, Plural: "kubecontrollersconfigurations", Kind: "KubeControllersConfiguration"},
	{APIVersion: version, Plural: "bgpconfigurations", Kind: "BGPConfiguration"},
	{APIVersion: version, Plural: "bgppeers", Kind: "BGPPeer"},
	{APIVersion: version, Plural: "blockaffinities", Kind: "BlockAffinity"},
	{APIVersion: version, Plural: "ipamblocks", Kind: "IPAMBlock"},
	{APIVersion: version, Plural: "ipamhandles", Kind: "IPAMHandle"},
	{APIVersion: secondVersion, Plural: "clusterinformations", Kind: "ClusterInformation", By: dump.Second},
	{APIVersion: secondVersion, Plural: "ippools", Kind: "IPPool", By: dump.Second},
	{APIVersion: secondVersion, Plural: "ipreservations", Kind: "IPReservation", By: dump.Second},
	{APIVersion: secondVersion, Plural: "ipamconfigurations", Kind: "IPAMConfiguration", By: dump.Second, As: "IPAMConfig"},
	{APIVersion: secondVersion, Plural: "kubecontrollersconfigurations", Kind: "KubeControllersConfiguration", By: dump.Second},
	{APIVersion: secondVersion, Plural: "bgpconfigurations", Kind: "BGPConfiguration", By: dump.Second},
	{APIVersion: secondVersion, Plural: "bgppeers", Kind: "BGPPeer", By: dump.Second},
	{APIVersion: secondVersion, Plural: "blockaffinities", Kind: "BlockAffinity", By: dump.Second},
	{APIVersion: secondVersion, Plural: "nodes", Kind: "Node", By: dump.Tool},
	{APIVersion: secondVersion, Plural: "workloadendpoints", Kind: "WorkloadEndpoint", Namespaced: true, By: dump.Tool},
}

// adders take the objects of each kind, of both groups.
var adders = map[string]func(*objects, *kept.Head, json.RawMessage) error{
	"ConfigMap": (*objects).addConfigMap, "ClusterInformation": (*objects).addInformation, "IPPool": (*objects).addPool,
	"IPReservation": (*objects).addReservation, "IPAMConfig": (*objects).addConfig, "IPAMConfiguration": (*objects).addConfig,
	"KubeControllersConfiguration": (*objects).addControllers, "BGPConfiguration": (*objects).addBGP, "BGPPeer": (*objects).addPeer,
	"BlockAffinity": (*objects).addAffinity, "IPAMBlock": (*objects).addBlock, "IPAMHandle": (*objects).addHandle,
	"Node": (*objects).addCalicoNode, "WorkloadEndpoint": (*objects).addEndpoint,
}

// objects are what is kept of a dump.
type objects struct {
	*dump.Cluster
	endpoints    kept.Objects[endpoint] // WorkloadEndpoints, by namespace/pod
	pools        kept.Objects[poolSpec]
	reservations kept.Objects[reservationSpec]
	blocks       kept.Objects[blockSpec]
	affinities   kept.Objects[affinitySpec] // by host and block
	handles      kept.Objects[handleSpec]
	config       kept.Objects[configSpec]
	controllers  kept.Objects[string] // leakGracePeriod of each KubeControllersConfiguration
	families     kept.Objects[printed.CNI]
	bgp          kept.Objects[bgpSpec]
	peers        kept.Objects[peerSpec]
	information  kept.Objects[string] // calicoVersion of each ClusterInformation

	tables printed.All
	etcd   bool // something came out of the etcd datastore
	kdd    bool // something came as custom resources
}

func open(c *dump.Cluster) *dump.Reading {
	o := newObjects(c)
	return &dump.Reading{
		Add: o.add, Found: o.found, Draft: o.draft, Document: o.document, Row: o.row, OnNode: o.onNode,
		Versions: o.versions, Concluded: o.concluded, Show: o.show, Forget: o.forget, Kept: o, Doubts: o.doubts, PodRanges: o.podRanges,
	}
}

func newObjects(c *dump.Cluster) *objects {
	return &objects{
		Cluster: c, endpoints: kept.Objects[endpoint]{}, pools: kept.Objects[poolSpec]{}, reservations: kept.Objects[reservationSpec]{},
		blocks: kept.Objects[blockSpec]{}, affinities: kept.Objects[affinitySpec]{}, handles: kept.Objects[handleSpec]{}, config: kept.Objects[configSpec]{},
		controllers: kept.Objects[string]{}, families: kept.Objects[printed.CNI]{}, bgp: kept.Objects[bgpSpec]{}, peers: kept.Objects[peerSpec]{},
		information: kept.Objects[string]{}, tables: printed.All{Config: map[string]string{}, Checked: map[netip.Addr][]printed.Allocation{}},
	}
}

func (c *objects) add(h *kept.Head, raw json.RawMessage) (kept bool, err error) {
	if h.Kind == "ConfigMap" && h.Key() != "kube-system/calico-config" {
		return false, nil
	}
	return true, adders[h.Kind](c, h, raw)
}

func (c *objects) found() bool {
	return !c.delegates() && len(c.pools)+len(c.blocks)+len(c.tables.Pools)+len(c.tables.Blocks)+len(c.tables.Checked) > 0
}

// onNode reports whether any object shows that Calico runs on a node.
func (c *objects) onNode(name string, n *kept.Node) bool {
	if len(n.Annotations) > 0 {
		return true
	}
	for _, a := range c.affinities {
		if a.Value.Node == name {
			return true
		}
	}
	return false
}

func (c *objects) versions() (out []string) {
	for _, name := range c.information.Keys() {
		out = append(out, c.information[name].Value)
	}
	return out
}

func (c *objects) forget() {
	c.blocks, c.affinities, c.endpoints, c.handles, c.families = nil, nil, nil, nil, nil
}

// objectsOf are what blocks, handles and pools may be called.
func objectsOf(thing model.Ref, all []model.Ref) []string {
	switch thing.Kind {
	case model.RefBlock:
		out := []string{"IPAMBlock " + BlockName(thing.Name)}
		if node := model.Named(all, model.RefNode); node != "" {
			out = append(out, "BlockAffinity "+AffinityName(node, thing.Name))
		}
		return out
	case model.RefHandle:
		return []string{"IPAMHandle " + strings.ToLower(thing.Name)}
	case model.RefPool:
		return []string{"IPPool " + thing.Name}
	}
	return nil
}
