package dump

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/kept"
)

// fromClaims creates a pod for every claim of a pod, and returns their number. Leaks cannot be
// detected then, and no running pod is reported as leaked.
func (d *Draft) fromClaims(claims map[string][]Claim) int {
	made, known, some := 0, map[string]int{}, d.someNode()
	for i := range d.Running {
		known[d.Running[i].Ref()] = i
	}
	for _, ref := range kept.Keys(claims) {
		namespace, name, ok := strings.Cut(ref, "/")
		if !ok || namespace == "" || name == "" {
			continue
		}
		byContainer := map[string][]Claim{}
		for _, cl := range claims[ref] {
			byContainer[cl.Container] = append(byContainer[cl.Container], cl)
		}
		if len(byContainer) == 0 {
			continue
		}
		// Of two sandboxes of one name the one with more addresses, then the later.
		id := slices.MaxFunc(kept.Keys(byContainer), func(a, b string) int { return cmp.Compare(len(byContainer[a]), len(byContainer[b])) })
		r := Running{Pod: &kept.Pod{Namespace: namespace, Name: name, Phase: "Running"}, ID: id}
		for i, cl := range byContainer[id] {
			if !cl.Attached {
				r.Addrs, r.Node = append(r.Addrs, cl.Addr), cmp.Or(r.Node, cl.Node)
				continue
			}
			if cl.Network != "" {
				iface := cmp.Or(cl.Interface, fmt.Sprintf("net%d", i+1))
				r.Attached = append(r.Attached, Attachment{cl.Network, iface, []netip.Addr{cl.Addr}})
				ns, nad, _ := strings.Cut(cl.Network, "/")
				r.Asked = append(r.Asked, kept.Selection{Name: nad, Namespace: ns, Interface: iface})
			}
		}
		if i, ok := known[ref]; ok { // known by a manager
			d.Running[i].Attached, d.Running[i].Asked = r.Attached, r.Asked
			continue
		}
		if r.Node == "" {
			r.Node = some
		}
		if len(r.Addrs)+len(r.Attached) > 0 && r.Node != "" {
			d.Running = append(d.Running, r)
			made++
		}
	}
	return made
}

// someNode returns the node of a pod whose node no record names.
func (d *Draft) someNode() string {
	if names := kept.Keys(d.Nodes); len(names) > 0 {
		return names[0]
	}
	return "imported-node"
}
