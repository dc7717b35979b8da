package calico

import (
	"encoding/json"
	"net/netip"
	"slices"

	"ipamsim/model"
)

// The annotations by which a Service asks for certain addresses or pools, each a JSON list.
const (
	poolsOf4Annotation = "projectcalico.org/ipv4pools" // names and CIDRs
	poolsOf6Annotation = "projectcalico.org/ipv6pools"
	addrsAnnotation    = "projectcalico.org/loadBalancerIPs" // at most one of each family
)

// ServiceAsks returns the addresses and pools that a Service of type LoadBalancer requests, by
// family (model.Balancer). A Service with an annotation that cannot be parsed gets none.
func ServiceAsks(annotations map[string]string, networks []model.Network) map[string][]netip.Prefix {
	if out, ok := readAsks(annotations, networks); ok {
		return out
	}
	return map[string][]netip.Prefix{"IPv4": nil, "IPv6": nil}
}

// readAsks reads the annotations: certain addresses go before pools. It is nil if there are none.
//
// Source: kube-controllers/pkg/controllers/loadbalancer, parseAnnotations (v3.31.0).
func readAsks(annotations map[string]string, networks []model.Network) (out map[string][]netip.Prefix, ok bool) {
	for family, name := range map[string]string{"IPv4": poolsOf4Annotation, "IPv6": poolsOf6Annotation} {
		text, there := annotations[name]
		if !there {
			continue
		}
		pools, ok := prefixes(text, networks)
		if !ok || slices.ContainsFunc(pools, func(p netip.Prefix) bool { return model.FamilyOf(p.Addr()) != family }) {
			return nil, false
		}
		if out == nil {
			out = map[string][]netip.Prefix{}
		}
		out[family] = pools
	}
	text, there := annotations[addrsAnnotation]
	if !there {
		return out, true
	}
	out = map[string][]netip.Prefix{"IPv4": nil, "IPv6": nil}
	var list []netip.Addr
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil, false
	}
	for _, a := range list {
		family := model.FamilyOf(a)
		if !a.IsValid() || len(out[family]) > 0 {
			return nil, false
		}
		out[family] = []netip.Prefix{netip.PrefixFrom(a, a.BitLen())}
	}
	return out, true
}

// prefixes are the prefixes of pools, given by name or as prefixes.
func prefixes(text string, networks []model.Network) (out []netip.Prefix, ok bool) {
	var names []string
	if json.Unmarshal([]byte(text), &names) != nil || len(names) == 0 {
		return nil, false
	}
	for _, name := range names {
		p, err := netip.ParsePrefix(name)
		if err != nil {
			if p, ok = poolNamed(name, networks); !ok {
				return nil, false
			}
		}
		out = append(out, p.Masked())
	}
	return out, true
}

// poolNamed is the prefix of a pool for load balancers.
func poolNamed(name string, networks []model.Network) (netip.Prefix, bool) {
	for i := range networks {
		if b := networks[i].Blocks; b != nil {
			for j := range b.Pools {
				if p := &b.Pools[j]; p.LoadBalancers && p.Name == name {
					return p.Prefix, true
				}
			}
		}
	}
	return netip.Prefix{}, false
}
