// Package reported finds conflicts that the objects of a cluster show by themselves, whichever
// manager has assigned the addresses: what pods report (status.podIPs, network-status),
// compared with each other, with the addresses of nodes, the gateways of networks and the
// podCIDRs of nodes.
package reported

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios/dump/kept"
)

// Codes of the conflicts.
const (
	Twice   = "reported-by-two-pods"
	Gateway = "reported-gateway"
	OfNode  = "reported-address-of-node"
	Outside = "in-range-of-another-node"
	Service = "reported-by-two-services"
)

// OfPods are the invariants that cannot be judged without pods. That an address is of another node is not among them:
// its invariant is also that of podCIDRs, which need no pods.
var OfPods = []string{invariant.DuplicateAddress.Name}

// Cluster is what the conflicts are found in.
type Cluster struct {
	pods     kept.Objects[kept.Pod]
	nodes    kept.Objects[kept.Node]
	networks map[string]network // by the key of the NetworkAttachmentDefinition
	services map[string]service // of type LoadBalancer, by key
}

// New is a cluster with these pods and nodes, which may be added later.
func New(pods kept.Objects[kept.Pod], nodes kept.Objects[kept.Node]) Cluster {
	return Cluster{pods, nodes, map[string]network{}, map[string]service{}}
}

// report is one address that a pod reports.
type report struct {
	network string // key of the NetworkAttachmentDefinition, "": the default network
	node    string // where the network is a wire of each node's own; "": one of the cluster
	addr    netip.Addr
}

// AddNetwork keeps a NetworkAttachmentDefinition.
func (c *Cluster) AddNetwork(h *kept.Head, raw json.RawMessage) error {
	var spec struct{ Config string }
	if err := kept.SpecOf(raw, &spec); err != nil {
		return err
	}
	c.networks[key(h)] = networkOf(spec.Config)
	return nil
}

func key(h *kept.Head) string {
	if h.Metadata.Namespace == "" {
		h.Metadata.Namespace = "default"
	}
	return h.Key()
}

// network is what matters here of a NetworkAttachmentDefinition.
type network struct {
	local    bool // each node has a wire of its own
	alone    bool // host-local assigns its addresses on each node separately
	gateways []netip.Addr
}

// Conflicts are sorted by invariant and objects. Pods that are being deleted, or whose node is silent, may have
// been replaced already. own are the addresses that nodes have beside those of their objects.
func (c *Cluster) Conflicts(own map[netip.Addr]string) (out []model.Violation) {
	holders := map[report][]*kept.Pod{}
	for _, key := range c.pods.Keys() {
		p := &c.pods[key].Value
		n := c.nodes[p.Node]
		if p.HostNetwork || p.Finished() || p.Deleting || p.Node == "" || n != nil && n.Value.Unheard {
			continue
		}
		for _, r := range c.reports(p) {
			if all := holders[r]; len(all) == 0 || all[len(all)-1] != p {
				holders[r] = append(all, p)
			}
		}
	}
	nodes := c.internal()
	for a, node := range own {
		if nodes[a] == "" {
			nodes[a] = node
		}
	}
	for r, pods := range holders {
		if len(pods) > 1 {
			v := conflict(Twice, r, pods...)
			if c.networks[r.network].alone {
				v.Facts = append(v.Facts, model.NewFact("by", hostLocal))
			}
			out = append(out, v)
		}
		if node := nodes[r.addr]; node != "" && r.network == "" {
			v := conflict(OfNode, r, pods[0])
			v.Objects = append(v.Objects, model.Ref{Kind: model.RefNode, Name: node})
			out = append(out, v)
		}
		if w, ok := c.networks[r.network]; ok && slices.Contains(w.gateways, r.addr) {
			out = append(out, conflict(Gateway, r, pods[0]))
		}
	}
	out = append(out, c.strays(holders)...)
	out = append(out, c.balanced()...)
	for i := range out {
		slices.SortFunc(out[i].Objects, model.Ref.Compare)
	}
	return sorted(out)
}

// sorted orders conflicts by what they are about.
func sorted(all []model.Violation) []model.Violation {
	type keyed struct {
		key string
		model.Violation
	}
	var keys []keyed
	for _, v := range all {
		keys = append(keys, keyed{v.Identity().String(), v})
	}
	slices.SortFunc(keys, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
	for i := range keys {
		all[i] = keys[i].Violation
	}
	return all
}

// reports are the addresses that a pod reports.
func (c *Cluster) reports(p *kept.Pod) (out []report) {
	for _, a := range kept.AddrsIn(p.IPs) {
		out = append(out, report{addr: a})
	}
	for _, s := range kept.Statuses(p.Annotations[kept.StatusAnnotation]) {
		if s.Default {
			continue
		}
		key := kept.Qualified(s.Name, p.Namespace)
		w, ok := c.networks[key]
		if !ok {
			continue // an older Multus, or a network without a definition in the dump
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
func (c *Cluster) internal() map[netip.Addr]string {
	out := map[netip.Addr]string{}
	for _, name := range c.nodes.Keys() {
		for _, a := range c.nodes[name].Value.Addresses {
			out[a] = name
		}
	}
	return out
}

// strays are pods whose address is of another node's podCIDR, where addresses come from
// podCIDRs: most pods have one of their own node's.
func (c *Cluster) strays(holders map[report][]*kept.Pod) (out []model.Violation) {
	home, away := 0, 0
	ranges := c.ranges()
	for r, pods := range holders {
		node := ranges.nodeOf(r.addr)
		for _, p := range pods {
			switch own := c.nodes[p.Node]; {
			case r.network != "" || own == nil || len(own.Value.PodCIDRs) == 0:
			case node == p.Node:
				home++
			case node != "":
				away++
				out = append(out, model.Violation{
					Invariant: invariant.OutOfPool.Name, Severity: invariant.OutOfPool.Severity, Code: Outside,
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

// podCIDRs are the nodes by their ranges, and the lengths of all ranges.
type podCIDRs struct {
	nodes map[netip.Prefix]string
	bits  []int
}

// ranges are the podCIDRs of all nodes. Of nodes with the same one the first by name has it.
func (c *Cluster) ranges() podCIDRs {
	out := podCIDRs{nodes: map[netip.Prefix]string{}}
	for _, name := range c.nodes.Keys() {
		for _, p := range c.nodes[name].Value.PodCIDRs {
			if p = p.Masked(); out.nodes[p] == "" {
				out.nodes[p] = name
			}
			if !slices.Contains(out.bits, p.Bits()) {
				out.bits = append(out.bits, p.Bits())
			}
		}
	}
	return out
}

// nodeOf is the node whose podCIDR holds an address, "" if none does. Of ranges that overlap it
// is the one of the first node by name.
func (r podCIDRs) nodeOf(a netip.Addr) (node string) {
	for _, bits := range r.bits {
		if p, err := a.Prefix(bits); err == nil {
			if name := r.nodes[p]; name != "" && (node == "" || name < node) {
				node = name
			}
		}
	}
	return node
}

// hostLocal keeps what it gives away on each node.
const hostLocal = "host-local"

// plugin is what is read of one in a configuration.
type plugin struct {
	Type string
	IPAM struct {
		Type    string
		Gateway string
		Routes  []struct{ GW string }
		Ranges  [][]struct{ Gateway string }
	}
}

func networkOf(config string) (w network) {
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
		w.alone = w.alone || p.IPAM.Type == hostLocal
		if main := i == 0; main && slices.Contains(kept.LocalTypes, p.Type) {
			w.local = true
		}
	}
	return w
}
