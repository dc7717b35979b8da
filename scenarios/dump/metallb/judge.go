package metallb

import (
	"net/netip"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// reach is how far the announcement of an address gets.
type reach int

const (
	unannounced  reach = iota // no advertisement is of it
	unpeered                  // only BGPAdvertisements are, and no BGPPeer takes what they announce
	peersUnknown              // the same, and the dump has no BGPPeers
	announced
)

// reaches is how far the addresses of a Service get: by an advertisement of its pool that selects the Service,
// at least one node that may announce it, and with BGP a peer of that node; or according to a speaker's status.
//
// Source: internal/config, setL2AdvertisementsToPools, setBGPAdvertisementsToPools.
func (r *record) reaches(key string, p *poolSpec) (out reach) {
	if p.announced {
		return announced
	}
	for _, x := range r.c.announced {
		if x.Value.Namespace+"/"+x.Value.Name == key {
			return announced
		}
	}
	s := r.services[key]
	for name, all := range r.c.adverts {
		for _, x := range all {
			a := &x.Value
			if len(a.Services) > 0 && !matches(a.Services, s.Labels) || !a.of(p) || !r.onSomeNode(a.Nodes) {
				continue
			}
			if name == layer2Name {
				return announced
			}
			out = max(out, r.peered(a))
		}
	}
	return out
}

// of reports whether an advertisement is of a pool.
func (a *advertisement) of(p *poolSpec) bool {
	return len(a.Pools)+len(a.PoolSelectors) == 0 || slices.Contains(a.Pools, p.name) || matches(a.PoolSelectors, p.labels)
}

// peered reports whether a BGPPeer takes what a BGPAdvertisement announces: one that it names, or any if it names
// none, with a session on a node of the advertisement.
//
// Source: speaker/bgp_controller.go, syncPeers; internal/config, peerFromCR.
func (r *record) peered(a *advertisement) reach {
	if !r.Saw(peersName) {
		return peersUnknown
	}
	for key, x := range r.c.peers {
		_, name, _ := strings.Cut(key, "/")
		if (len(a.Peers) == 0 || slices.Contains(a.Peers, name)) && r.onSomeNode(a.Nodes, x.Value.Nodes) {
			return announced
		}
	}
	return unpeered
}

// onSomeNode reports whether a node matches each of some lists of selectors; an empty list selects all nodes. Of
// nodes that are not in the dump one may.
func (r *record) onSomeNode(lists ...[]metav1.LabelSelector) bool {
	lists = slices.DeleteFunc(lists, func(all []metav1.LabelSelector) bool { return len(all) == 0 })
	if len(lists) == 0 || !r.c.SawAll(nodesName) {
		return true
	}
	for _, x := range r.c.nodes {
		if !slices.ContainsFunc(lists, func(all []metav1.LabelSelector) bool { return !matches(all, x.Value) }) {
			return true
		}
	}
	return false
}

// unpeeredWhy is why no BGPPeer takes the announcements of a pool.
func (r *record) unpeeredWhy(p *poolSpec) string {
	if len(r.c.peers) == 0 {
		return "there is no BGPPeer"
	}
	for _, x := range r.c.adverts[bgpName] {
		if a := &x.Value; a.of(p) && !slices.ContainsFunc(a.Peers, func(name string) bool { return !r.hasPeer(name) }) {
			return "no node is selected by one of them and by a BGPPeer (nodeSelectors)"
		}
	}
	return "the BGPPeers that they name (spec.peers) do not exist"
}

func (r *record) hasPeer(name string) bool {
	return slices.ContainsFunc(r.c.peers.Keys(), func(key string) bool { return strings.HasSuffix(key, "/"+name) })
}

// byPeers are the pools that BGPAdvertisements announce, and no L2Advertisement.
func (r *record) byPeers() (out []string) {
	of := func(resource string, p *poolSpec) bool {
		return slices.ContainsFunc(r.c.adverts[resource].Keys(), func(key string) bool { a := r.c.adverts[resource][key].Value; return a.of(p) })
	}
	for i := range r.pools {
		if p := &r.pools[i]; !p.announced && of(bgpName, p) && !of(layer2Name, p) {
			out = append(out, p.name)
		}
	}
	return out
}
