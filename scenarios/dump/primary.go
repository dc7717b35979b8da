package dump

import (
	"net/netip"
	"slices"
	"strings"
)

// torn reports whether Calico's CNI plugin has taken the pod's network down: it keeps
// its annotation then, with nothing in it, though the status has the address still.
//
// Source: libcalico-go/lib/backend/k8s/conversion, IsFinished; resources,
// workloadEndpointClient.patchOutAnnotations (v3.31).
func (p *pod) torn() bool {
	ip, said := p.Annotations[calicoAnnotations+"podIP"]
	return said && ip == "" && p.Annotations[calicoAnnotations+"podIPs"] == ""
}

// primary are the addresses that Calico gave the pod: by its CNI plugin's own
// annotations, which are there before the kubelet reports, or by the pod's status. That
// may name what another CNI plugin gave: Calico's are those that it has claimed for the
// pod, and those of its pools. On Windows only the first count, for other plugins there
// take addresses of the same ranges. A pod whose network is being taken down has what
// is still claimed for it.
func (d *draft) primary(p *pod, claims []claim) []netip.Addr {
	if len(d.blocks)+len(d.affinities)+len(d.handles) == 0 {
		return nil // nobody knows, or another IPAM plugin gives them out
	}
	if len(d.blocks) == 0 && !d.Cluster.saw(resourceOf("ipamblocks."+calicoGroup)) {
		return nil
	}
	for _, key := range []string{"podIPs", "podIP"} {
		if v := p.Annotations[calicoAnnotations+key]; v != "" {
			return addrsOf(strings.Split(v, ","))
		}
	}
	windows := d.nodes[p.Node] != nil && d.nodes[p.Node].Windows
	claimed := func(a netip.Addr) bool {
		return slices.ContainsFunc(claims, func(cl claim) bool { return cl.pool == "" && cl.addr == a })
	}
	return slices.DeleteFunc(addrsOf(p.IPs), func(a netip.Addr) bool {
		return !claimed(a) && (windows || p.torn() || !d.pooled(a))
	})
}

// pooled reports whether an address lies in a pool of Calico's; without any pool in the
// dump it may.
func (d *draft) pooled(a netip.Addr) bool {
	for _, p := range d.pools {
		if x, err := netip.ParsePrefix(p.CIDR); err == nil && x.Contains(a) {
			return true
		}
	}
	return len(d.pools) == 0
}
