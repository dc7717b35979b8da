package hostlocal

import (
	"encoding/json"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports/imported"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/manifest"
	"ipamsim/scenarios/dump/reported"
)

// record is host-local's of a scenario: the network of all pods, whose addresses are those of the nodes' podCIDRs.
type record struct {
	*dump.Draft
	c       *objects
	network string                                // as the directory of its files is called
	files   map[string]map[netip.Addr]Reservation // of that network, by node
	cidrs   map[string][]string                   // of each node
}

// found reports whether the dump lists the files of the network of all pods on a node.
func (o *objects) found() bool {
	return slices.ContainsFunc(o.all, func(l *Listing) bool { return o.homeOf(l) != "" })
}

// homeOf is the node of a listing of the network of all pods; "": it is unknown, or the listing is of another network.
func (o *objects) homeOf(l *Listing) string {
	node := o.nodeOf(l)
	if node == "" || len(l.Files) == 0 {
		return ""
	}
	for a := range l.Files {
		if !o.within(node, a) {
			return ""
		}
	}
	return node
}

// within reports whether an address lies in a podCIDR of a node.
func (o *objects) within(node string, a netip.Addr) bool {
	n := o.Nodes[node]
	return n != nil && slices.ContainsFunc(n.Value.PodCIDRs, func(p netip.Prefix) bool { return p.Contains(a) })
}

func (o *objects) draft(d *dump.Draft) (*dump.Record, error) {
	r := &record{Draft: d, c: o, files: map[string]map[netip.Addr]Reservation{}, cidrs: map[string][]string{}}
	var left []string
	for _, l := range o.all {
		home := o.homeOf(l)
		switch {
		case home == "" || r.network != "" && l.Network != r.network:
			left = append(left, l.Network)
			continue
		case r.files[home] == nil:
			r.files[home] = map[netip.Addr]Reservation{}
		}
		r.network = l.Network
		for a, x := range l.Files {
			if r.files[home][a].Container == "" {
				r.files[home][a] = x
			}
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		d.Left("host-local's files of %s: the scenario has the network of all pods only", d.Some(slices.Compact(left)))
	}
	for name := range d.Nodes {
		for _, p := range o.Nodes[name].Value.PodCIDRs {
			r.cidrs[name] = append(r.cidrs[name], p.String())
		}
	}
	return &dump.Record{
		Claims: r.claims, Settings: r.writeNetwork, Write: func(*manifest.Writer) {}, NodeSpec: r.nodeSpec, Settle: r.install,
		// Until then the kubelet's garbage collection may have a DEL called that removes a file.
		Spec:    func(spec map[string]any) { spec["until"] = "3m" },
		Primary: r.primary, Container: r.container, Needs: needs, Unjudged: func() []scenarios.Unjudged { return o.doubts(d) },
		Names: func(n alias.Names) { n.Add(alias.Network, r.network) }, Ranges: r.ranges, Rename: r.rename,
	}, nil
}

// claims are the files.
func (r *record) claims() (out []dump.Claim) {
	for _, node := range kept.Keys(r.files) {
		for a, x := range r.files[node] {
			out = append(out, dump.Claim{Addr: a, Node: node, Container: x.Container})
		}
	}
	slices.SortFunc(out, func(a, b dump.Claim) int { return a.Addr.Compare(b.Addr) })
	return out
}

// primary are the addresses that a pod has of its node's podCIDRs: others are another manager's.
func (r *record) primary(p *kept.Pod, _ []dump.Claim) (addrs []netip.Addr, down bool) {
	return slices.DeleteFunc(kept.AddrsIn(p.IPs), func(a netip.Addr) bool { return !r.c.within(p.Node, a) }), false
}

// container is the sandbox in the file of a pod's address.
func (r *record) container(p *dump.Running) string {
	for _, a := range p.Addrs {
		if id := r.files[p.Node][a].Container; id != "" {
			return id
		}
	}
	return ""
}

func needs(x *dump.Resource) []string {
	if x.Name() == "pods" {
		return reported.OfPods
	}
	return nil
}

// filesMax bounds what is written of a node: the API server takes annotations of 256 KiB.
const filesMax = 200_000

// install writes the files of addresses that no running pod of the node has: those of pods that run are made by the
// simulated runtime.
func (r *record) install() {
	has := map[string]map[netip.Addr]bool{}
	for i := range r.Running {
		p := &r.Running[i]
		if has[p.Node] == nil {
			has[p.Node] = map[netip.Addr]bool{}
		}
		for _, a := range p.Addrs {
			has[p.Node][a] = true
		}
	}
	for _, node := range kept.Keys(r.files) {
		files := map[string]string{}
		for a, x := range r.files[node] {
			if has[node][a] {
				continue
			}
			r.c.written[a] = true
			if x.Container == "" {
				x.Container = "listed-" + a.String() // ls does not show it
			}
			if x.Interface == "" {
				x.Interface = "eth0"
			}
			files["/"+dataDir+r.network+"/"+a.String()] = x.Container + "\r\n" + x.Interface
		}
		n := r.Nodes[node]
		text, _ := json.Marshal(files)
		switch {
		case len(files) == 0 || n == nil:
		case r.Options.Anonymise:
			r.Left("%d files of host-local for no running pod on a node: they are not part of an anonymised scenario", len(files))
		case len(text) > filesMax:
			r.Left("%d files of host-local for no running pod on %s: too many for a manifest", len(files), node)
		default:
			n.Annotations = kept.Over(n.Annotations, map[string]string{kept.FilesAnnotation: string(text)})
		}
	}
}

// writeNetwork writes the CNI configuration as the ConfigMap of a network daemon has it.
func (r *record) writeNetwork(w *manifest.Writer) {
	config, _ := json.Marshal(manifest.Object{
		"cniVersion": "1.0.0", "name": r.network, "plugins": []manifest.Object{{"type": "bridge", "ipam": manifest.Object{"type": name}}},
	})
	w.Manifest("v1", "ConfigMap", manifest.InNamespace("kube-system/cni-conf"), "data", manifest.Object{"cni-conf.json": string(config)})
}

func (r *record) nodeSpec(node string, spec map[string]any) {
	if all := r.cidrs[node]; len(all) > 0 {
		spec["podCIDR"], spec["podCIDRs"] = all[0], all
	}
}

func (r *record) ranges() (out []string) {
	for _, node := range kept.Keys(r.cidrs) {
		out = append(out, r.cidrs[node]...)
	}
	return out
}

func (r *record) rename(a *alias.Aliases) error {
	cidrs := map[string][]string{}
	for node, all := range r.cidrs {
		cidrs[a.Get(alias.Node, node)] = a.Texts(all)
	}
	r.cidrs, r.network = cidrs, a.Get(alias.Network, r.network)
	return nil
}

// words leaves to judge, full and crowded what they report of the same files, with what the dump shows of the pods.
func (o *objects) words(v *model.Violation) (words string, covered bool) {
	addr, err := netip.ParseAddr(model.Named(v.Objects, model.RefAddress))
	node := model.Named(v.Objects, model.RefNode)
	switch v.Invariant {
	case invariant.LeakedClaim.Name, invariant.UnreleasedClaim.Name:
		return "", err == nil && o.written[addr]
	case imported.Exhausted:
		return "", o.exhausted[node]
	}
	return "", false
}
