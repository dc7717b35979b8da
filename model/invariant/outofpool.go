package invariant

import (
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
)

// Codes of OutOfPool.
const (
	disabledPool  = "disabled-pool"
	outsideRanges = "outside-ranges"
	outsideSlice  = "slice-outside-ranges"
	outsideCIDRs  = "service-outside-cidrs"
	unselected    = "unselected-node"
	manualPool    = "manual-pool"
	noWorkloads   = "no-workloads"
)

// OutOfPool is an address that the network may not assign: an address of a router, of another
// network, or of a pool that does not serve the pod. With node slices the network's ranges still
// bound it. A pool that is disabled, that does not select the pod's node, that is Manual or that
// allows no workloads assigns nothing to an ADD that begins afterwards. The last three do if the
// pod requests the pool or the address.
//
// Which namespaces a pool selects is not known.
//
// Source: libcalico-go/lib/ipam/ipam.go, determinePools (v3.31).
var OutOfPool = define(Invariant{
	Name:     "out-of-pool",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "Every live sandbox's address, and the range that a node was given when it joined, lies in a range of its network, and every cluster IP in a ServiceCIDR.",
	Kinds: []Kind{
		{disabledPool, "{pod} on {node} has {address}[ since {since}], of pool {range}, which is disabled[ since {rule-since}]"},
		{unselected, "{pod} on {node} has {address}[ since {since}], of pool {range}, which has not selected the node[ since {rule-since}]"},
		{manualPool, "{pod} on {node} has {address}[ since {since}] and did not ask for it, of pool {range}, which is Manual[ since {rule-since}]"},
		{noWorkloads, "{pod} on {node} has {address}[ since {since}], of pool {range}, which allows no workloads[ since {rule-since}]"},
		{outsideRanges, "{pod} on {node} has {address}[ since {since}], outside every range of network {network}"},
		{outsideSlice, "{node} has {range}, outside every range of network {network}"},
		{outsideCIDRs, "{service} was given {address} at {at}, outside every ServiceCIDR"},
	},
	Cause:    CauseRule{Start: FromWrite},
	Decision: "which ranges the cluster has, or whether the holder of this address gets another one. The podCIDR of a Node is immutable: delete the Node and let it register again",
}, func(v View) []finding {
	return append(slices.Concat(slicesOutside(&v), servicesOutside(&v)), eachHeld(v, func(h *holding) (string, []model.Fact) {
		for _, r := range refusals(h) {
			if x, since, ok := v.Past.since(r.of, h.network.Key, h.addr); ok && gotAfter(&v, h, since) {
				return r.code, []model.Fact{model.NewFact("rule-since", since), model.NewFact("range", rangeName(x))}
			}
		}
		if permitted(&v, h, func(n *model.Network) bool { return n.Spans(h.addr) }) {
			return "", nil
		}
		return outsideRanges, nil
	})...)
})

// refusal is why a pool gives nothing to a pod, and since when each does so.
type refusal struct {
	code string
	of   func(*rules) map[netip.Prefix]time.Duration
}

// refusals are the reasons that apply to a pod, depending on its request.
func refusals(h *holding) []refusal {
	out := []refusal{{disabledPool, func(r *rules) map[netip.Prefix]time.Duration { return r.disabled }}}
	if h.attachment.Asked || h.attachment.OfPool || device(h.sandbox) {
		return out
	}
	return append(out,
		refusal{unselected, func(r *rules) map[netip.Prefix]time.Duration { return r.unselected[h.sandbox.Node] }},
		refusal{manualPool, func(r *rules) map[netip.Prefix]time.Duration { return r.manual }},
		refusal{noWorkloads, func(r *rules) map[netip.Prefix]time.Duration { return r.workless }},
	)
}

// slicesOutside are the slices of nodes outside of the ranges of a network whose manager assigns
// one to every node. Upstream's node IPAM controller does not start if a Node has such a podCIDR.
func slicesOutside(v *View) (out []finding) {
	for i := range v.Networks {
		n := &v.Networks[i]
		if len(n.Ranges) == 0 || n.Ranges[0].Slice == 0 || n.Blocks != nil {
			continue
		}
		for j := range v.Record.Pools {
			if p := &v.Record.Pools[j]; p.Node != "" && p.Network == n.Name && !n.Owns(p) {
				out = append(out, finding{code: outsideSlice, objects: []model.Ref{networkName(n.Key), nodeName(p.Node), rangeName(p.Range)}})
			}
		}
	}
	return out
}

// clusterIP is an address that a Service has.
type clusterIP struct {
	service string
	addr    netip.Addr
}

// servicesOutside are the cluster IPs that were in no ServiceCIDR when a Service was given
// them. One that is deleted later is no matter: upstream leaves the Services alone.
func servicesOutside(v *View) []finding {
	if v.Past == nil {
		return nil
	}
	return v.Past.outside
}

// cidrHeard is the time within which an API server may not yet know that a ServiceCIDR was deleted.
const cidrHeard = 10 * time.Minute

// noteClusterIPs judges the cluster IPs that are new.
func (p *Past) noteClusterIPs(v *View) {
	s := v.Record.Services
	if s == nil {
		return
	}
	if p.cidrs == nil {
		p.cidrs = map[netip.Prefix]time.Duration{}
	}
	for _, r := range s.Ranges {
		p.cidrs[r] = v.Truth.At
	}
	was := p.clusterIPs
	p.clusterIPs = map[clusterIP]bool{}
	for i := range s.All {
		for _, a := range s.All[i].Addrs {
			k := clusterIP{s.All[i].Name, a}
			p.clusterIPs[k] = true
			if p.begun && !was[k] && len(p.cidrs) > 0 && !p.inCIDR(a, v.Truth.At) {
				p.outside = append(p.outside, finding{
					code: outsideCIDRs, objects: []model.Ref{model.AddressOf(a), model.ServiceOf(k.service)},
					facts: []model.Fact{model.NewFact("at", v.Truth.At)},
				})
			}
		}
	}
}

// inCIDR reports whether a ServiceCIDR has an address, or had it a while ago.
func (p *Past) inCIDR(a netip.Addr, now time.Duration) bool {
	for r, last := range p.cidrs {
		if r.Contains(a) && now-last <= cidrHeard {
			return true
		}
	}
	return false
}

// eachHeld judges every address that live sandboxes hold under a policy by
// itself; judge returns the code of the violation, "" for none, and facts in addition to
// the holder and the time since when.
func eachHeld(v View, judge func(*holding) (code string, facts []model.Fact)) []finding {
	var out []finding
	held := hold(v)
	for i := range held.list {
		h := &held.list[i]
		if h.network == nil {
			continue
		}
		if code, facts := judge(h); code != "" {
			out = append(out, finding{
				code:    code,
				objects: []model.Ref{addressName(h), networkName(h.network.Key), model.PodOf(h.sandbox.Pod), nodeName(h.sandbox.Node)},
				facts:   append(facts, model.NewFact("since", h.attachment.Since)),
			})
		}
	}
	return out
}
