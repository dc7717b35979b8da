package dump

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model/invariant"
	"ipamsim/scenarios"
)

// podList is that a list shows pods of a namespace.
type podList struct {
	list      int // how many had ended before it
	namespace string
}

// unseen takes what is claimed for pods of a namespace of which the dump has no pod at
// all to be in use: kubectl get pods without --all-namespaces shows one namespace, and
// nothing that lives may be called leaked. A namespace that is gone has no pods.
func (d *draft) unseen(claims map[string][]claim) {
	c := d.Cluster
	if len(c.pods) == 0 || c.sawAll(resourceOf("pods")) {
		return
	}
	shown, nodes := map[string]bool{}, c.saw(resourceOf("nodes"))
	lists := map[int]bool{}
	for l := range c.podLists {
		if lists[l.list] {
			return // two namespaces in one list: it is of all of them
		}
		shown[l.namespace], lists[l.list] = true, true
	}
	of, names := map[string][]claim{}, map[string]bool{}
	for ref, all := range claims {
		ns, _, _ := strings.Cut(ref, "/")
		gone := len(c.namespaces) > 1 && c.namespaces[ns] == nil
		if nodes && !slices.ContainsFunc(all, func(cl claim) bool { return cl.node == "" || c.nodes[cl.node] != nil }) {
			gone = true // with its node
		}
		if !shown[ns] && !gone {
			of[ref], names[ns] = all, true
		}
	}
	if len(of) == 0 {
		return
	}
	d.fromClaims(of)
	d.partly = append(d.partly, scenarios.Unjudged{What: []string{invariant.LeakedClaim.Name}, Without: []string{"pods"}, Namespaces: keysOf(names)})
}

// fromEndpoints makes pods of WorkloadEndpoints. Where those were dumped, a claim of
// Calico's without one is a leak, and what is left in claims is Whereabouts'.
func (d *draft) fromEndpoints(claims map[string][]claim) {
	if !d.sawKind("WorkloadEndpoint") {
		return
	}
	for _, ref := range d.endpoints.keys() {
		e := d.endpoints[ref].value
		p := &pod{Namespace: e.Namespace, Name: e.Pod, Node: e.Node, Phase: "Running", IPs: e.IPs}
		r := running{pod: p, container: e.Container, addrs: addrsOf(e.IPs)}
		if len(r.addrs) > 0 && len(d.blocks) > 0 {
			d.running = append(d.running, r)
		}
	}
	for ref, all := range claims {
		claims[ref] = slices.DeleteFunc(all, func(cl claim) bool { return cl.pool == "" })
		if len(claims[ref]) == 0 {
			delete(claims, ref)
		}
	}
	d.unknown("no pods in the dump: they are those of Calico's WorkloadEndpoints")
}

// fromClaims makes a pod of everything that is claimed for one, and says how many:
// nobody can tell then what has leaked, and nothing that lives is called leaked.
func (d *draft) fromClaims(claims map[string][]claim) int {
	made, known := 0, map[string]int{}
	for i := range d.running {
		known[d.running[i].ref()] = i
	}
	for _, ref := range keysOf(claims) {
		namespace, name, ok := strings.Cut(ref, "/")
		if !ok || namespace == "" || name == "" {
			continue
		}
		byContainer := map[string][]claim{}
		for _, cl := range claims[ref] {
			byContainer[cl.container] = append(byContainer[cl.container], cl)
		}
		if len(byContainer) == 0 {
			continue
		}
		// Of two sandboxes of one name the one with more addresses, then the later.
		id := slices.MaxFunc(keysOf(byContainer), func(a, b string) int { return cmp.Compare(len(byContainer[a]), len(byContainer[b])) })
		r := running{pod: &pod{Namespace: namespace, Name: name, Phase: "Running"}, container: id}
		for i, cl := range byContainer[id] {
			if cl.pool == "" {
				r.addrs, r.Node = append(r.addrs, cl.addr), cmp.Or(r.Node, cl.node)
				continue
			}
			if n := d.networkOf(cl.pool); n != nil {
				iface := cmp.Or(cl.iface, fmt.Sprintf("net%d", i+1))
				r.attached = append(r.attached, attachment{n.key, iface, []netip.Addr{cl.addr}})
				ns, nad, _ := strings.Cut(n.key, "/")
				r.asked = append(r.asked, selection{Name: nad, Namespace: ns, Interface: iface})
			}
		}
		if i, ok := known[ref]; ok { // an endpoint's
			d.running[i].attached, d.running[i].asked = r.attached, r.asked
			continue
		}
		if r.Node == "" {
			r.Node = d.someNode()
		}
		if len(r.addrs)+len(r.attached) > 0 && r.Node != "" {
			d.running = append(d.running, r)
			made++
		}
	}
	return made
}

// someNode is where a pod runs of which only Whereabouts knows.
func (d *draft) someNode() string {
	if names := keysOf(d.nodes); len(names) > 0 {
		return names[0]
	}
	return "imported-node"
}
