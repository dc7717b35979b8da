package nodeipam

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ipamsim/model/invariant"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/kubeadm"
	"ipamsim/scenarios/dump/manifest"
)

// record is node IPAM's of a scenario.
type record struct {
	*dump.Draft
	c      *objects
	cidrs  map[string][]string // of each node of the scenario
	config kubeadm.Configuration
	known  bool // the cluster's ranges
	bare   bool // no Node has one
	lacks  bool // a Node has none, and whether one is free for it is unknown
}

func (o *objects) draft(d *dump.Draft) (*dump.Record, error) {
	r := &record{Draft: d, c: o, cidrs: map[string][]string{}, bare: !o.found()}
	for name := range d.Nodes {
		if x := o.cidrs[name]; x != nil {
			r.cidrs[name] = x.Value
		}
	}
	r.config = kubeadm.Effective(d, o.config, o.pods)
	r.config.APIServer = kubeadm.Component{}
	if r.known = r.allocates(); !r.known {
		r.makeUp()
	}
	return &dump.Record{
		Claims: func() []dump.Claim { return nil }, Write: func(*manifest.Writer) {}, Settings: r.config.Write, NodeSpec: r.nodeSpec,
		Unjudged: r.unjudged, Needs: needs,
		Names: func(alias.Names) {}, Ranges: r.ranges, Rename: r.rename,
	}, nil
}

// needs are what cannot be judged of nodes that are not in the dump.
func needs(x *dump.Resource) []string {
	if x.Name() == "nodes" {
		return []string{invariant.OutOfPool.Name, invariant.SliceConflict.Name, invariant.UnassignedNode.Name}
	}
	return nil
}

// allocates reports whether the configuration says from which ranges nodes get theirs.
func (r *record) allocates() bool {
	ranges := len(kubeadm.Split(r.config.Networking.PodSubnet)) > 0
	for _, x := range r.config.ControllerManager.ExtraArgs {
		switch {
		case x.Name == "cluster-cidr":
			ranges = x.Value != ""
		case x.Name == "allocate-node-cidrs" && x.Value != "true", x.Name == "cidr-allocator-type" && x.Value != "RangeAllocator", x.Name == "controllers" && !started(x.Value):
			return false // another component assigns them, or none does
		}
	}
	return ranges
}

// started reports whether a list of controllers starts node IPAM.
//
// Source: k8s.io/controller-manager/app, IsControllerEnabled (v0.37.2).
func started(controllers string) bool {
	all := kubeadm.Split(controllers)
	off := slices.Contains(all, "-node-ipam-controller") || slices.Contains(all, "-nodeipam")
	on := slices.Contains(all, "node-ipam-controller") || slices.Contains(all, "nodeipam")
	return on || slices.Contains(all, "*") && !off
}

// bitsMax is how much wider than a node's range the cluster's may be here.
const bitsMax = 16

// bareRange is the range in the scenario of a cluster that has none: see (*objects).words.
const bareRange = "10.244.0.0/16"

// makeUp assumes ranges around the nodes' podCIDRs, as wide as possible. It does not report what
// only the cluster's range shows: which nodes lack a podCIDR, and which lie far from the others.
func (r *record) makeUp() {
	r.config = kubeadm.Configuration{}
	if r.bare {
		r.config.Networking.PodSubnet = bareRange
		r.Unknown("the address manager of pods: the dump has no objects of a supported manager, and no Node has a podCIDR; podCIDRs of %s are made up", bareRange)
		return
	}
	var first []bool // the families, IPv4 or not, in the order of what nodes have
	var far, without []string
	by := map[bool][]netip.Prefix{}
	for _, name := range kept.Keys(r.Nodes) {
		if len(r.cidrs[name]) == 0 {
			without = append(without, name)
			delete(r.Nodes, name)
		}
		for _, s := range r.cidrs[name] {
			p := netip.MustParsePrefix(s)
			v4 := p.Addr().Is4()
			if by[v4] = append(by[v4], p.Masked()); !slices.Contains(first, v4) {
				first = append(first, v4)
			}
		}
	}
	var subnets []string
	around := map[bool]netip.Prefix{}
	for _, v4 := range first {
		p, longest := kubeadm.Around(by[v4], bitsMax)
		around[v4] = p
		subnets = append(subnets, p.String())
		flag := "node-cidr-mask-size-ipv6"
		if v4 {
			flag = "node-cidr-mask-size-ipv4"
		}
		r.config.ControllerManager.ExtraArgs = append(r.config.ControllerManager.ExtraArgs, kubeadm.Argument{Name: flag, Value: strconv.Itoa(longest)})
	}
	r.config.Networking.PodSubnet = strings.Join(subnets, ",")
	for _, name := range kept.Keys(r.Nodes) {
		r.cidrs[name] = slices.DeleteFunc(slices.Clone(r.cidrs[name]), func(s string) bool {
			p := netip.MustParsePrefix(s)
			out := !around[p.Addr().Is4()].Contains(p.Addr())
			if out {
				far = append(far, name)
			}
			return out
		})
	}
	if r.lacks = len(without) > 0; r.lacks && !r.Beside() {
		r.Left("nodes without a podCIDR, %s: whether one is free for them depends on the cluster's range", r.Some(without))
	}
	if len(far) > 0 {
		r.Left("podCIDRs that lie far from those of the other nodes, of %s", r.Some(far))
	}
}

// unjudged returns what depends on the cluster's ranges. If another manager assigns pod addresses,
// it is only reported.
func (r *record) unjudged() []scenarios.Unjudged {
	if r.known {
		return nil
	}
	if r.bare {
		return []scenarios.Unjudged{{
			What:    []string{invariant.DoubleClaim.Name, invariant.LeakedClaim.Name, invariant.OutOfPool.Name, invariant.UnassignedNode.Name, invariant.UnbackedSandbox.Name},
			Without: []string{"objects of an address manager"},
		}}
	}
	if r.Beside() {
		r.Unknown("the range of podCIDRs (--cluster-cidr), which shows whether a node lacks one, has one outside of it, or few are left")
		return nil
	}
	var what []string
	if !r.within(r.PodRanges()) {
		what = append(what, invariant.OutOfPool.Name)
	}
	if r.lacks {
		what = append(what, invariant.UnassignedNode.Name)
	}
	if len(what) == 0 {
		r.Unknown("the range of podCIDRs (--cluster-cidr): assumed to contain the pools of the pods' network, in which all podCIDRs lie")
		return nil
	}
	return []scenarios.Unjudged{{What: what, Without: []string{kubeadm.Resource.Name()}}}
}

// within reports whether every podCIDR lies in one of some ranges.
func (r *record) within(all []netip.Prefix) bool {
	for _, cidrs := range r.c.cidrs {
		for _, s := range cidrs.Value {
			p := netip.MustParsePrefix(s) // was checked
			if !slices.ContainsFunc(all, func(of netip.Prefix) bool { return of.Bits() <= p.Bits() && of.Contains(p.Addr()) }) {
				return false
			}
		}
	}
	return true
}

func (r *record) nodeSpec(node string, spec map[string]any) {
	if all := r.cidrs[node]; len(all) > 0 {
		spec["podCIDR"], spec["podCIDRs"] = all[0], all
	}
}

func (r *record) ranges() (out []string) {
	for _, name := range kept.Keys(r.cidrs) {
		out = append(out, r.cidrs[name]...)
	}
	return append(out, r.config.Ranges()...)
}

func (r *record) rename(a *alias.Aliases) error {
	cidrs := map[string][]string{}
	for name, all := range r.cidrs {
		cidrs[a.Get(alias.Node, name)] = a.Texts(all)
	}
	r.cidrs = cidrs
	r.config.Rename(a)
	return nil
}
