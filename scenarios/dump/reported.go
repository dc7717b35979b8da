package dump

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios/dump/kept"
)

// Codes of what pods report themselves, whichever manager has assigned their addresses.
const (
	ReportedTwice   = "reported-by-two-pods"
	ReportedGateway = "reported-gateway"
	ReportedOfNode  = "reported-address-of-node"
	ReportedOutside = "in-range-of-another-node"
)

// Reported are the conflicts that pods, nodes and NetworkAttachmentDefinitions show by
// themselves: what pods report (status.podIPs, network-status), compared with each other, with
// the addresses of nodes, the gateways of networks and the podCIDRs of nodes. They are known
// after Scenario, sorted by invariant and objects; none of an anonymised scenario.
func (c *Cluster) Reported() []model.Violation { return c.reported }

// report is one address that a pod reports.
type report struct {
	network string // key of the NetworkAttachmentDefinition, "": the default network
	node    string // where the network is a wire of each node's own; "": one of the cluster
	addr    netip.Addr
}

// wire is what matters here of a NetworkAttachmentDefinition.
type wire struct {
	local    bool // each node has a wire of its own
	gateways []netip.Addr
}

// compare finds the conflicts. Pods that are being deleted, or whose node is silent, may have
// been replaced already.
func (d *Draft) compare() (out []model.Violation) {
	holders := map[report][]*kept.Pod{}
	for _, key := range d.Pods.Keys() {
		p := &d.Pods[key].Value
		n := d.Cluster.Nodes[p.Node]
		if p.HostNetwork || p.Finished() || p.Deleting || p.Node == "" || n != nil && n.Value.Unheard {
			continue
		}
		for _, r := range d.reports(p) {
			if !slices.Contains(holders[r], p) {
				holders[r] = append(holders[r], p)
			}
		}
	}
	nodes := d.internal()
	for r, pods := range holders {
		if len(pods) > 1 {
			out = append(out, conflict(ReportedTwice, r, pods...))
		}
		if node := nodes[r.addr]; node != "" && r.network == "" {
			v := conflict(ReportedOfNode, r, pods[0])
			v.Objects = append(v.Objects, model.Ref{Kind: model.RefNode, Name: node})
			out = append(out, v)
		}
		if w, ok := d.wires[r.network]; ok && slices.Contains(w.gateways, r.addr) {
			out = append(out, conflict(ReportedGateway, r, pods[0]))
		}
	}
	out = append(out, d.strays(holders)...)
	for i := range out {
		slices.SortFunc(out[i].Objects, model.Ref.Compare)
	}
	slices.SortFunc(out, func(a, b model.Violation) int { return strings.Compare(a.Identity().String(), b.Identity().String()) })
	return out
}

// reports are the addresses that a pod reports.
func (d *Draft) reports(p *kept.Pod) (out []report) {
	for _, a := range kept.AddrsIn(p.IPs) {
		out = append(out, report{addr: a})
	}
	for _, s := range kept.Statuses(p.Annotations[kept.StatusAnnotation]) {
		if s.Default {
			continue
		}
		key := kept.Qualified(s.Name, p.Namespace)
		w, ok := d.wires[key]
		if !ok {
			continue // an older Multus, or a network of which the dump has no definition
		}
		for _, a := range s.Addrs() {
			r := report{network: key, addr: a}
			if w.local {
				r.node = p.Node
			}
			out = append(out, r)
		}
	}
	return out
}

func conflict(code string, r report, pods ...*kept.Pod) model.Violation {
	v := model.Violation{Invariant: invariant.DuplicateAddress.Name, Severity: invariant.DuplicateAddress.Severity, Code: code, Objects: []model.Ref{model.AddressOf(r.addr)}}
	if r.network != "" {
		v.Objects = append(v.Objects, model.Ref{Kind: model.RefNetwork, Name: r.network})
	}
	for _, p := range pods {
		v.Objects = append(v.Objects, model.Ref{Kind: model.RefPod, Name: p.Ref()})
	}
	return v
}

// internal are the nodes by their internal addresses.
func (d *Draft) internal() map[netip.Addr]string {
	out := map[netip.Addr]string{}
	for _, name := range d.Cluster.Nodes.Keys() {
		for _, a := range d.Cluster.Nodes[name].Value.Addresses {
			out[a] = name
		}
	}
	return out
}

// strays are pods whose address is of another node's podCIDR, where addresses come from
// podCIDRs: most pods have one of their own node's.
func (d *Draft) strays(holders map[report][]*kept.Pod) (out []model.Violation) {
	home, away := 0, 0
	for r, pods := range holders {
		for _, p := range pods {
			node := d.rangeOf(r.addr)
			switch own := d.Cluster.Nodes[p.Node]; {
			case r.network != "" || own == nil || len(own.Value.PodCIDRs) == 0:
			case node == p.Node:
				home++
			case node != "":
				away++
				out = append(out, model.Violation{
					Invariant: invariant.OutOfPool.Name, Severity: invariant.OutOfPool.Severity, Code: ReportedOutside,
					Objects: []model.Ref{model.AddressOf(r.addr), {Kind: model.RefPod, Name: p.Ref()}, {Kind: model.RefNode, Name: p.Node}},
					Facts:   []model.Fact{model.NewFact("of", model.Ref{Kind: model.RefNode, Name: node})},
				})
			}
		}
	}
	if home <= away {
		return nil
	}
	return out
}

// rangeOf is the node whose podCIDR holds an address, "" if none does.
func (d *Draft) rangeOf(a netip.Addr) string {
	for _, name := range d.Cluster.Nodes.Keys() {
		if slices.ContainsFunc(d.Cluster.Nodes[name].Value.PodCIDRs, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return name
		}
	}
	return ""
}

// localTypes are plugins whose interfaces end on their node, if nothing else connects them.
//
// Source: containernetworking/plugins, plugins/main/bridge and ptp (v1.9.0).
var localTypes = []string{"bridge", "ptp"}

// addWire keeps which gateways a network has, and whether it ends on each node.
func (c *Cluster) addWire(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Spec struct{ Config string }
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	if h.Metadata.Namespace == "" {
		h.Metadata.Namespace = "default"
	}
	c.wires[h.Key()] = wireOf(o.Spec.Config)
	return nil
}

// plugin is what is read of one in a configuration.
type plugin struct {
	Type string
	IPAM struct {
		Gateway string
		Routes  []struct{ GW string }
		Ranges  [][]struct{ Gateway string }
	}
}

func wireOf(config string) (w wire) {
	var o struct {
		plugin
		Plugins []plugin
	}
	if json.Unmarshal([]byte(config), &o) != nil {
		return w
	}
	for i, p := range append(o.Plugins, o.plugin) {
		texts := []string{p.IPAM.Gateway}
		for _, r := range p.IPAM.Routes {
			texts = append(texts, r.GW)
		}
		for _, set := range p.IPAM.Ranges {
			for _, r := range set {
				texts = append(texts, r.Gateway)
			}
		}
		w.gateways = append(w.gateways, kept.AddrsIn(texts)...)
		if main := i == 0; main && slices.Contains(localTypes, p.Type) {
			w.local = true
		}
	}
	return w
}
