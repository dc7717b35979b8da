package metallb

import (
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"ipamsim/model"
	reference "ipamsim/model/reference/metallb"
	"ipamsim/scenarios/dump/kept"
)

// judge asks the reference how a controller that starts now would handle each Service.
func (r *record) judge() {
	var all []reference.Service
	names := kept.Keys(r.services)
	for _, key := range names {
		s := r.services[key]
		all = append(all, s.reference(key))
	}
	verdicts, _ := reference.Judge(r.judging, all)
	for i, v := range verdicts {
		r.verdicts[names[i]] = v
	}
}

// reference is a Service as the reference has it.
func (s *service) reference(key string) reference.Service {
	out := reference.Service{
		Name: key, Labels: s.Labels, Terms: s.terms(), Pool: s.note(poolNote), Has: kept.AddrsIn(s.Addrs), Prefer: s.Spec.IPFamilyPolicy == "PreferDualStack",
	}
	for _, a := range kept.AddrsIn(s.Spec.ClusterIPs) {
		out.V4, out.V6 = out.V4 || a.Is4(), out.V6 || !a.Is4()
	}
	var ok bool
	out.Asks, ok = s.asks()
	out.Wrong = !ok
	return out
}

// terms are those on which it shares an address.
//
// Source: internal/allocator/k8salloc, Ports and BackendKey.
func (s *service) terms() model.Terms {
	t := model.Terms{Key: s.note(sharingNote)}
	if s.Spec.ExternalTrafficPolicy == "Local" {
		t.Backend = labels.Set(s.Spec.Selector).String()
	}
	for _, p := range s.Spec.Ports {
		if p.Protocol == "" {
			p.Protocol = "TCP"
		}
		t.Ports = append(t.Ports, model.NodePort{Port: int(p.Port), Protocol: p.Protocol})
	}
	return t
}

// asks are the addresses that it asks for; see reference.Asks.
func (s *service) asks() ([]netip.Addr, bool) {
	return reference.Asks(s.note(addrsNote), s.Spec.LoadBalancerIP)
}

// free is how many addresses of a family of a pool no Service has.
func (r *record) free(p *reference.Pool, v4 bool) int {
	n := p.Size(v4)
	for a := range r.holders {
		if a.Is4() == v4 && p.Has(a) {
			n--
		}
	}
	return n
}

// announcedAll reports whether every pool is announced without an advertisement.
func (r *record) announcedAll() bool {
	return !slices.ContainsFunc(r.pools, func(p poolSpec) bool { return !p.announced })
}

// announces reports whether the addresses of a Service are announced: by an advertisement of its pool that
// selects the Service, and at least one node that may announce it, or according to a speaker's status.
//
// Source: internal/config, setL2AdvertisementsToPools, setBGPAdvertisementsToPools.
func (r *record) announces(key string, p *poolSpec) bool {
	if p.announced {
		return true
	}
	for _, x := range r.c.announced {
		if x.Value.Namespace+"/"+x.Value.Name == key {
			return true
		}
	}
	s := r.services[key]
	for _, all := range r.c.adverts {
		for _, x := range all {
			a := &x.Value
			of := len(a.Pools)+len(a.PoolSelectors) == 0 || slices.Contains(a.Pools, p.name) || matches(a.PoolSelectors, p.labels)
			if of && (len(a.Services) == 0 || matches(a.Services, s.Labels)) && r.onSomeNode(a) {
				return true
			}
		}
	}
	return false
}

// onSomeNode reports whether a node may announce what an advertisement is of. Of nodes that are
// not in the dump one may.
func (r *record) onSomeNode(a *advertisement) bool {
	if len(a.Nodes) == 0 || !r.c.SawAll(nodesName) {
		return true
	}
	for _, x := range r.c.nodes {
		if matches(a.Nodes, x.Value) {
			return true
		}
	}
	return false
}
