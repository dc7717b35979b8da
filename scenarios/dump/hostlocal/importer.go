// Package hostlocal reads and judges what host-local has given away, by what a dump has of the
// directories in which it keeps its files on each node: listings, or the files. Other objects
// do not show it; host-local has no record in the API server.
package hostlocal

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/kept"
)

// Importer is host-local's. Its scenario begins with the files of the network of all pods; without
// a listing of it, pods are judged without a scenario.
var Importer = &dump.Importer{
	Title: "host-local",
	Resources: []dump.Resource{
		{APIVersion: "k8s.cni.cncf.io/v1", Plural: "network-attachment-definitions", Kind: "NetworkAttachmentDefinition", Namespaced: true},
	},
	Marks: marks, Files: holds, NodeNotes: flannelNotes, Last: true, Open: open, Check: check,
	KeptOfNode: func(annotation string) bool { return annotation == kept.FilesAnnotation },
}

// objects are what is kept of a dump.
type objects struct {
	*dump.Cluster
	reader
	networks kept.Objects[network] // of NetworkAttachmentDefinitions with host-local

	written   map[netip.Addr]bool // in the scenario, for no running pod
	exhausted map[string]bool     // nodes without a free address that are reported
}

// network is what is read of a NetworkAttachmentDefinition with host-local.
type network struct {
	Type  string // the plugin that makes the interface
	Calls string // host-local's name for the network: that of the CNI configuration
}

func open(c *dump.Cluster) *dump.Reading {
	o := &objects{Cluster: c, networks: kept.Objects[network]{}, written: map[netip.Addr]bool{}, exhausted: map[string]bool{}}
	return &dump.Reading{
		Add: o.add, Document: o.document, Found: o.found, Draft: o.draft, Words: o.words, Doubts: o.doubts, Forget: func() { o.reader = reader{} },
	}
}

func (o *objects) add(h *kept.Head, raw json.RawMessage) (bool, error) {
	var spec struct{ Config string }
	if err := kept.SpecOf(raw, &spec); err != nil {
		return false, err
	}
	type plugin struct {
		Type string
		IPAM struct{ Type string }
	}
	var c struct {
		plugin
		Name    string
		Plugins []plugin
	}
	if json.Unmarshal([]byte(spec.Config), &c) != nil {
		return false, nil
	}
	if len(c.Plugins) > 0 {
		c.plugin = c.Plugins[0]
	}
	if c.IPAM.Type != name {
		return false, nil
	}
	if c.Name == "" { // Multus calls it as the object is called
		c.Name = h.Metadata.Name
	}
	if h.Metadata.Namespace == "" {
		h.Metadata.Namespace = "default"
	}
	return true, kept.Put(o.Store, o.networks, h.Key(), h, network{c.Type, c.Name})
}

// name is what a configuration calls the plugin.
const name = "host-local"

// document takes a line of text.
func (o *objects) document(from dump.Origin, raw json.RawMessage) (n int, ok bool, err error) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return 0, false, nil
	}
	return 0, o.line(from, text), nil
}

// doubts judges the listings, and returns the networks in which several nodes may assign one
// address.
func (o *objects) doubts(d *dump.Draft) (out []scenarios.Unjudged) {
	var shared []string
	for _, key := range o.networks.Keys() {
		if !slices.Contains(kept.LocalTypes, o.networks[key].Value.Type) && len(d.Cluster.Nodes) != 1 {
			shared = append(shared, key)
		}
	}
	if len(shared) > 0 {
		d.Unknown("whether two nodes have assigned one address of %s: host-local keeps its files on each node and assigns the same range on each", d.Some(shared))
	}
	for _, l := range o.all {
		if len(l.Files) == 0 {
			continue
		}
		out = append(out, o.judge(d, l)...)
	}
	if !d.Options.Anonymise {
		o.crowded(d)
	}
	if silent := o.silent(); len(silent) > 0 {
		out = append(out, scenarios.Unjudged{What: []string{invariant.LeakedClaim.Name}, Without: []string{"/" + strings.TrimSuffix(dataDir, "/")}, Pools: silent})
	}
	return out
}

// silent returns the nodes that the dump lacks although host-local's files name them: if the dump
// has other nodes, or if a pod waits for an address and pods have addresses of their nodes'
// podCIDRs.
func (o *objects) silent() (out []string) {
	listed, waits, home := map[string]bool{}, map[string]bool{}, 0
	for _, l := range o.all {
		listed[o.nodeOf(l)] = len(l.Files) > 0
	}
	for _, key := range o.Pods.Keys() {
		p := &o.Pods[key].Value
		n := o.Nodes[p.Node]
		if n == nil || p.HostNetwork || p.Finished() || p.Deleting {
			continue
		}
		waits[p.Node] = waits[p.Node] || len(p.IPs) == 0
		for _, a := range kept.AddrsIn(p.IPs) {
			if slices.ContainsFunc(n.Value.PodCIDRs, func(c netip.Prefix) bool { return c.Contains(a) }) {
				home++
			} else {
				home--
			}
		}
	}
	for _, node := range o.Nodes.Keys() {
		n := &o.Nodes[node].Value
		if len(n.PodCIDRs) > 0 && !n.Windows && !listed[node] && (len(listed) > 0 || waits[node] && home > 0) {
			out = append(out, node)
		}
	}
	return out
}

// check looks on the node.
func check(v *model.Violation) string {
	if !strings.HasPrefix(v.Code, reserved) {
		return ""
	}
	node, addr := model.Named(v.Objects, model.RefNode), model.Named(v.Objects, model.RefAddress)
	if addr == "" {
		return "ls /var/lib/cni/networks/* on " + node + " and kubectl get pods --all-namespaces -o wide --field-selector spec.nodeName=" + node + " show what is reserved and what runs"
	}
	return "grep -l . /var/lib/cni/networks/*/" + addr + " on " + node + ", and kubectl get pods --all-namespaces -o wide | grep -wF '" + addr + "': no output confirms the finding"
}
