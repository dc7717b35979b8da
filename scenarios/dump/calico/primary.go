package calico

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/kept"
)

// torn reports whether Calico's CNI plugin has taken the pod's network down: it keeps
// its annotation then, with nothing in it, though the status has the address still.
//
// Source: libcalico-go/lib/backend/k8s/conversion, IsFinished; resources,
// workloadEndpointClient.patchOutAnnotations (v3.31).
func torn(p *kept.Pod) bool {
	ip, said := p.Annotations[podNotes+"podIP"]
	return said && ip == "" && p.Annotations[podNotes+"podIPs"] == ""
}

// primary are the addresses that Calico gave the pod: by its CNI plugin's own
// annotations, which are there before the kubelet reports, or by the pod's status. That
// may name what another CNI plugin gave: Calico's are those that it has claimed for the
// pod, and those of its pools. On Windows only the first count, for other plugins there
// take addresses of the same ranges. A pod whose network is being taken down has what
// is still claimed for it; down: nothing is.
func (d *record) primary(p *kept.Pod, claims []dump.Claim) (addrs []netip.Addr, down bool) {
	if torn(p) && !slices.ContainsFunc(claims, func(cl dump.Claim) bool { return !cl.Attached }) {
		return nil, true
	}
	if len(d.blocks)+len(d.affinities)+len(d.handles) == 0 {
		return nil, false // unknown, or another IPAM plugin assigns them
	}
	if len(d.blocks) == 0 && !d.Saw("ipamblocks."+group) {
		return nil, false
	}
	for _, key := range []string{"podIPs", "podIP"} {
		if v := p.Annotations[podNotes+key]; v != "" {
			return kept.AddrsIn(strings.Split(v, ",")), false
		}
	}
	windows := d.Nodes[p.Node] != nil && d.Nodes[p.Node].Windows
	claimed := func(a netip.Addr) bool {
		return slices.ContainsFunc(claims, func(cl dump.Claim) bool { return !cl.Attached && cl.Addr == a })
	}
	return slices.DeleteFunc(kept.AddrsIn(p.IPs), func(a netip.Addr) bool {
		return !claimed(a) && (windows || torn(p) || !d.pooled(a))
	}), false
}

// pooled reports whether an address lies in a pool of Calico's; without any pool in the
// dump it may.
func (d *record) pooled(a netip.Addr) bool {
	for _, p := range d.pools {
		if x, err := netip.ParsePrefix(p.CIDR); err == nil && x.Contains(a) {
			return true
		}
	}
	return len(d.pools) == 0
}

// fromEndpoints makes pods of WorkloadEndpoints. Where those were dumped, a claim of
// Calico's without one is a leak, and what is left in claims is of attached networks.
func (d *record) fromEndpoints(claims map[string][]dump.Claim) {
	if !d.SawKind("WorkloadEndpoint") {
		return
	}
	for _, ref := range d.c.endpoints.Keys() {
		e := d.c.endpoints[ref].Value
		p := &kept.Pod{Namespace: e.Namespace, Name: e.Pod, Node: e.Node, Phase: "Running", IPs: e.IPs}
		r := dump.Running{Pod: p, ID: e.Container, Addrs: kept.AddrsIn(e.IPs)}
		if len(r.Addrs) > 0 && len(d.blocks) > 0 {
			d.Running = append(d.Running, r)
		}
	}
	for ref, all := range claims {
		isUsed := func(cl dump.Claim) bool { return !cl.Unused }
		if !d.SawAll("workloadendpoints."+secondGroup) && d.c.endpoints[ref] == nil && slices.ContainsFunc(all, isUsed) {
			continue // calicoctl shows one namespace, unless it is asked for all
		}
		claims[ref] = slices.DeleteFunc(all, func(cl dump.Claim) bool { return !cl.Attached })
		if len(claims[ref]) == 0 {
			delete(claims, ref)
		}
	}
	d.Unknown("no pods in the dump: taken from Calico's WorkloadEndpoints")
}

// container is the sandbox that a pod runs in, by what the CNI plugin wrote.
func (d *record) container(r *dump.Running) string {
	if id := r.Annotations[containerNote]; id != "" {
		return id
	}
	if e := d.c.endpoints[r.Ref()]; e != nil && e.Value.Node == r.Node {
		return e.Value.Container
	}
	return ""
}
