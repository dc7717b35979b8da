package metallb

import (
	"net/netip"
	"slices"
	"strings"

	reference "ipamsim/model/reference/metallb"
	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/kept"
)

// Kinds of names.
const (
	poolNames    = "pool"
	serviceNames = "service"
	keyNames     = "sharing"
)

func (r *record) names(n alias.Names) {
	n.Add(poolNames)
	n.Add(serviceNames)
	n.Add(keyNames)
	for _, p := range r.pools {
		n.Add(poolNames, p.name)
	}
	for _, key := range kept.Keys(r.services) {
		s := r.services[key]
		namespace, name, _ := strings.Cut(key, "/")
		n.Add(alias.Namespace, namespace)
		n.Add(serviceNames, name)
		n.Add(keyNames, s.note(sharingNote))
	}
}

func (r *record) ranges() (out []string) {
	for i := range r.judging {
		for _, x := range r.judging[i].Ranges {
			for _, p := range x.Prefixes() {
				out = append(out, p.String())
			}
		}
	}
	for _, key := range kept.Keys(r.services) {
		s := r.services[key]
		out = append(out, s.Spec.ClusterIPs...)
		asks, _ := s.asks()
		for _, a := range asks {
			out = append(out, a.String())
		}
	}
	return out
}

// rename replaces all names in the record. It drops the selectors of pools: their labels are a company's
// own.
func (r *record) rename(a *alias.Aliases) error {
	for i := range r.pools {
		p := &r.pools[i]
		p.name, p.Allocation = a.Get(poolNames, p.name), nil
		var ranges []reference.Range
		for _, x := range r.judging[i].Ranges {
			for _, prefix := range x.Prefixes() {
				moved := a.Prefix(prefix)
				y, err := reference.ParseRange(netip.PrefixFrom(moved.Addr(), moved.Bits()).String())
				if err != nil {
					return err
				}
				ranges = append(ranges, y)
			}
		}
		r.judging[i].Ranges = ranges
	}
	services := map[string]service{}
	for _, key := range kept.Keys(r.services) {
		s := r.services[key]
		services[a.InNamespace(serviceNames, key)] = s.renamed(a)
	}
	r.services = services
	return nil
}

func (s *service) renamed(a *alias.Aliases) service {
	out := *s
	out.Labels, out.Spec.Selector, out.Annotations = nil, nil, map[string]string{}
	out.Addrs, out.Spec.ClusterIPs = a.Texts(s.Addrs), a.Texts(s.Spec.ClusterIPs)
	if out.Spec.ClusterIP = ""; len(out.Spec.ClusterIPs) > 0 {
		out.Spec.ClusterIP = out.Spec.ClusterIPs[0]
	}
	out.Spec.LoadBalancerIP = a.Text(s.Spec.LoadBalancerIP)
	if v := s.note(addrsNote); v != "" {
		asks, _ := s.asks()
		text := ""
		for i, x := range asks {
			if i > 0 {
				text += ","
			}
			text += a.Address(x).String()
		}
		out.Annotations[prefixes[0]+addrsNote] = text
	}
	if v := s.note(poolNote); v != "" {
		out.Annotations[prefixes[0]+poolNote] = a.Get(poolNames, v)
	}
	if v := s.note(sharingNote); v != "" {
		out.Annotations[prefixes[0]+sharingNote] = a.Get(keyNames, v)
	}
	out.Spec.Ports = slices.Clone(s.Spec.Ports)
	for i := range out.Spec.Ports {
		if out.Spec.Ports[i].Name = ""; len(out.Spec.Ports) > 1 {
			out.Spec.Ports[i].Name = "port-" + string(rune('a'+i%26)) + string(rune('a'+i/26%26))
		}
	}
	return out
}
