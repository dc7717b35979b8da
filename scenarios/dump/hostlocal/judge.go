package hostlocal

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports/imported"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/kept"
)

// Codes of what is found here.
const (
	reserved     = "reserved-on-node"
	reservedGone = reserved + "-for-no-pod"
	reservedAll  = reserved + "-all"
)

// judge compares the files of a network with the pods of its node.
func (o *objects) judge(d *dump.Draft, l *Listing) []scenarios.Unjudged {
	node := o.nodeOf(l)
	if node == "" {
		d.Unknown("the node of the listing of %s%s: neither its prompt nor its path names it, and its addresses are not in the podCIDR of one node", "/"+dataDir, d.Some([]string{l.Network}))
		return []scenarios.Unjudged{{What: []string{invariant.LeakedClaim.Name}, Without: []string{"nodes"}, Pools: []string{"host-local's " + l.Network}}}
	}
	has, unsure := o.onNode(node)
	var gone []netip.Addr
	for a := range l.Files {
		if !has[a] {
			gone = append(gone, a)
		}
	}
	slices.SortFunc(gone, netip.Addr.Compare)
	supposed := unsure || !d.Whole()
	if !d.Options.Anonymise {
		o.full(d, l, node, gone)
		for _, a := range gone {
			d.Report(leaked(l, node, a, supposed))
		}
	}
	if !supposed || len(gone) == 0 && d.Whole() {
		return nil
	}
	return []scenarios.Unjudged{{What: []string{invariant.LeakedClaim.Name}, Without: []string{"pods"}, Pools: []string{"host-local's " + l.Network + " on " + node}, Incomplete: true}}
}

// leaked is a file that no pod of the node accounts for.
func leaked(l *Listing, node string, a netip.Addr, supposed bool) dump.Found {
	v := model.Violation{
		Invariant: invariant.LeakedClaim.Name, Severity: invariant.LeakedClaim.Severity, Code: reservedGone,
		Objects: []model.Ref{model.AddressOf(a), {Kind: model.RefNetwork, Name: l.Network}, {Kind: model.RefNode, Name: node}},
	}
	of := ""
	if c := l.Files[a].Container; c != "" {
		v.Objects = append(v.Objects, model.Ref{Kind: model.RefContainer, Name: c})
		of = " for container {container}"
	}
	slices.SortFunc(v.Objects, model.Ref.Compare)
	v.Message = v.Say("{address} stays reserved in /" + dataDir + "{network} on {node}" + of + ", and no pod of the node has it: host-local does not assign it again")
	return dump.Found{Violation: v, Supposed: supposed}
}

// size is how many addresses host-local has of a podCIDR; 0: so many that they are not counted.
//
// Source: plugins/ipam/host-local/backend/allocator, (*Range).Canonicalize: of a subnet all but the
// first address, the gateway's, and of IPv4 the last one (v1.10.0).
func size(p netip.Prefix) int {
	bits := p.Addr().BitLen() - p.Bits()
	switch {
	case bits > 16 || bits < 2:
		return 0
	case p.Addr().Is4():
		return 1<<bits - 3
	}
	return 1<<bits - 2
}

// flannel's daemon writes annotations; its CNI plugin has host-local assign addresses.
//
// Source: flannel-io/flannel, pkg/subnet/kube/annotations.go; flannel-io/cni-plugin, flannel_linux.go.
const flannelNotes = "flannel.alpha.coreos.com/"

// crowded reports nodes on which pods have every address of the podCIDR, and others wait.
func (o *objects) crowded(d *dump.Draft) {
	waiting, used := map[string][]string{}, map[netip.Prefix]int{}
	for _, key := range o.Pods.Keys() {
		p := &o.Pods[key].Value
		n := o.Nodes[p.Node]
		if n == nil || p.HostNetwork || p.Finished() || p.Deleting || len(n.Value.Annotations) == 0 {
			continue
		}
		if len(p.IPs) == 0 {
			waiting[p.Node] = append(waiting[p.Node], key)
		}
		for _, a := range kept.AddrsIn(p.IPs) {
			if i := slices.IndexFunc(n.Value.PodCIDRs, func(c netip.Prefix) bool { return c.Contains(a) }); i >= 0 {
				used[n.Value.PodCIDRs[i]]++
			}
		}
	}
	for _, node := range kept.Keys(waiting) {
		for _, p := range o.Nodes[node].Value.PodCIDRs {
			noted := func(k string) bool { return strings.HasPrefix(k, flannelNotes) }
			if most := size(p); most == 0 || used[p] < most || !slices.ContainsFunc(kept.Keys(o.Nodes[node].Value.Annotations), noted) {
				continue
			}
			v := model.Violation{
				Invariant: imported.Exhausted, Severity: model.Critical, Code: reservedAll,
				Objects: []model.Ref{{Kind: model.RefNode, Name: node}, {Kind: model.RefRange, Name: p.String()}},
			}
			o.exhausted[node] = true
			v.Message = fmt.Sprintf("pods on %s have all %d addresses that host-local assigns from its podCIDR %s, and %s waits for one: it cannot start", node, used[p], p, layout.Some(waiting[node]))
			d.Report(dump.Found{Violation: v})
		}
	}
}

// full reports the ranges of the node in which host-local has assigned every address.
func (o *objects) full(d *dump.Draft, l *Listing, node string, gone []netip.Addr) {
	for _, p := range o.Nodes[node].Value.PodCIDRs {
		most, taken, lost := size(p), 0, 0
		for a := range l.Files {
			if p.Contains(a) {
				taken++
			}
		}
		for _, a := range gone {
			if p.Contains(a) {
				lost++
			}
		}
		if most == 0 || taken < most {
			continue
		}
		v := model.Violation{
			Invariant: imported.Exhausted, Severity: model.Critical, Code: reservedAll,
			Objects: []model.Ref{{Kind: model.RefNode, Name: node}, {Kind: model.RefRange, Name: p.String()}},
		}
		o.exhausted[node] = true
		v.Message = fmt.Sprintf("host-local on %s has reserved all %d addresses of %s, %d of them for pods that are not in the dump: pods cannot start there", node, most, p, lost)
		d.Report(dump.Found{Violation: v})
	}
}

// onNode are the addresses that pods of a node have, on any network. unsure: a pod there has one
// that it has not reported yet, or what it reported is not known.
func (o *objects) onNode(node string) (has map[netip.Addr]bool, unsure bool) {
	has = map[netip.Addr]bool{}
	unsure = o.Nodes[node].Value.Unheard
	for _, key := range o.Pods.Keys() {
		p := &o.Pods[key].Value
		if p.Node != node || p.HostNetwork {
			continue
		}
		asks := len(kept.Selections(p.Annotations[kept.NetworksAnnotation], p.Namespace)) > 0 && p.Annotations[kept.StatusAnnotation] == ""
		unsure = unsure || !p.Finished() && (len(p.IPs) == 0 || asks)
		for _, a := range kept.AddrsIn(p.IPs) {
			has[a] = true
		}
		for _, s := range kept.Statuses(p.Annotations[kept.StatusAnnotation]) {
			for _, a := range s.Addrs() {
				has[a] = true
			}
		}
	}
	return has, unsure
}

// nodeOf returns the node of a listing: the one that its prompt or its path names, or the one whose
// podCIDRs hold all its addresses; "": unknown.
func (o *objects) nodeOf(l *Listing) string {
	short, _, _ := strings.Cut(l.Host, ".")
	for _, name := range []string{l.Host, short} {
		if o.Nodes[name] != nil {
			return name
		}
	}
	var named []string
	where := strings.FieldsFunc(l.Host+"/"+l.From.File, func(r rune) bool { return r == '/' })
	for _, name := range o.Nodes.Keys() {
		of := func(part string) bool { // sosreport-n1-2026, n1.txt
			at := strings.Index(part, name)
			if at < 0 {
				return false
			}
			before, after := part[:at], part[at+len(name):]
			return (before == "" || strings.ContainsRune("-_.", rune(before[len(before)-1]))) && (after == "" || strings.ContainsRune("-_.", rune(after[0])))
		}
		if slices.ContainsFunc(where, of) {
			named = append(named, name)
		}
	}
	if len(named) == 1 {
		return named[0]
	}
	home := ""
	for a := range l.Files {
		for _, name := range o.Nodes.Keys() {
			if !slices.ContainsFunc(o.Nodes[name].Value.PodCIDRs, func(p netip.Prefix) bool { return p.Contains(a) }) {
				continue
			}
			if home != "" && home != name {
				return ""
			}
			home = name
		}
	}
	if home == "" || slices.ContainsFunc(slices.Collect(maps.Keys(l.Files)), func(a netip.Addr) bool {
		return !slices.ContainsFunc(o.Nodes[home].Value.PodCIDRs, func(p netip.Prefix) bool { return p.Contains(a) })
	}) {
		return ""
	}
	return home
}
