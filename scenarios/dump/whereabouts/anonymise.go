package whereabouts

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/manifest"
)

// nameNames are what Whereabouts calls networks (network_name).
const nameNames = "name"

func (d *record) names(n alias.Names) {
	n.Add(nameNames)
	for _, p := range d.ranged {
		for _, x := range p.Allocations {
			n.Ref(x.PodRef)
			n.Add(alias.Container, x.ID)
		}
	}
	for _, r := range d.reserved {
		n.Ref(r.PodRef)
		n.Add(alias.Container, r.ContainerID)
	}
	for _, p := range d.sliced {
		for _, s := range p.Status.Allocations {
			n.Add(alias.Node, s.NodeName)
		}
	}
	for _, x := range d.networks {
		ns, name, _ := strings.Cut(x.key, "/")
		n.Add(alias.Namespace, ns)
		n.Add(alias.Network, name)
		n.Add(nameNames, x.name)
	}
}

func (d *record) texts() (out []string) {
	for _, p := range d.ranged {
		out = append(out, p.Range)
	}
	for _, p := range d.sliced {
		out = append(out, p.Spec.Range)
	}
	for _, n := range d.networks {
		_, c := ipamOf(n.config)
		for _, r := range append(c.Ranges, ipamRange{c.Range, c.Start, c.End, c.Exclude}) {
			out = append(append(out, r.Exclude...), cidrOf(r.Range), r.Start, r.End)
		}
	}
	return out
}

func (d *record) rename(a *alias.Aliases) error {
	networks := d.networks
	pools := map[string]*rangePool{}
	for key, p := range d.ranged {
		n := &rangePool{Range: a.Text(p.Range), Allocations: map[string]allocation{}}
		for k, x := range p.Allocations {
			n.Allocations[k] = allocation{a.Container(x.ID), a.Ref(x.PodRef), x.IfName}
		}
		pools[kubeSystem+"/"+rangeName(a, key, p.Range, n.Range)] = n
	}
	reserved := map[string]*rangeReservation{}
	for key, r := range d.reserved {
		reserved[kubeSystem+"/"+reservationName(a, key, networks)] = &rangeReservation{a.Container(r.ContainerID), a.Ref(r.PodRef), r.IfName}
	}
	sliced := map[string]*slicePool{}
	for key, p := range d.sliced {
		n := &slicePool{Spec: p.Spec}
		n.Spec.Range = a.Text(p.Spec.Range)
		for _, s := range p.Status.Allocations {
			n.Status.Allocations = append(n.Status.Allocations, slice{a.Get(alias.Node, s.NodeName), a.Text(s.SliceRange)})
		}
		_, name, _ := strings.Cut(key, "/")
		sliced[kubeSystem+"/"+rangeName(a, "/"+name, p.Spec.Range, n.Spec.Range)] = n
	}
	d.ranged, d.reserved, d.sliced = pools, reserved, sliced
	d.networks = nil
	for _, n := range networks {
		d.networks = append(d.networks, networkOf(a.InNamespace(alias.Network, n.key), reduced(a, n.config)))
	}
	slices.SortFunc(d.networks, func(x, y network) int { return cmp.Compare(x.key, y.key) })
	return nil
}

// rangeName is the name of a pool, [NETWORK-][NODE-]RANGE, in other words.
func rangeName(a *alias.Aliases, key, from, to string) string {
	_, name, _ := strings.Cut(key, "/")
	rest, ok := strings.CutSuffix(name, rangeText(from))
	if !ok { // of a node's slice, or of a network by its own name
		return words(a, name)
	}
	if rest == "" {
		return rangeText(to)
	}
	return words(a, strings.TrimSuffix(rest, "-")) + "-" + rangeText(to)
}

// words replaces names of networks and nodes, which a dash may join.
func words(a *alias.Aliases, s string) string {
	if s == "" {
		return ""
	}
	for _, kind := range []string{nameNames, alias.Network, alias.Node} {
		if a.Has(kind, s) {
			return a.Get(kind, s)
		}
	}
	for i := range len(s) {
		if s[i] == '-' {
			if a.Has(nameNames, s[:i]) && a.Has(alias.Node, s[i+1:]) {
				return a.Get(nameNames, s[:i]) + "-" + a.Get(alias.Node, s[i+1:])
			}
		}
	}
	return "name-0"
}

// rangeText is a range as Whereabouts puts it into a name.
//
// Source: pkg/storage/kubernetes/ipam.go, normalizeRange (v0.9.4).
func rangeText(s string) string {
	if strings.HasSuffix(s, ":") {
		s += "0"
	}
	return strings.NewReplacer(":", "-", "/", "-").Replace(s)
}

func reservationName(a *alias.Aliases, key string, networks []network) string {
	_, name, _ := strings.Cut(key, "/")
	prefix := ""
	for _, n := range networks {
		if rest, ok := strings.CutPrefix(name, n.name+"-"); ok && n.name != "" {
			name, prefix = rest, a.Get(nameNames, n.name)+"-"
			break
		}
	}
	x, err := netip.ParseAddr(name)
	if err != nil {
		x, err = netip.ParseAddr(strings.ReplaceAll(name, "-", ":"))
	}
	if err != nil {
		return prefix + "name-0"
	}
	return prefix + normalized(a.Address(x))
}

// rangeWithEnds of a configuration is a CIDR, or an address and a CIDR with its last.
func rangeWithEnds(a *alias.Aliases, s string) string {
	if first, last, ok := strings.Cut(s, "-"); ok {
		return a.Text(first) + "-" + a.Text(last)
	}
	return a.Text(s)
}

func cidrOf(s string) string {
	if _, last, ok := strings.Cut(s, "-"); ok {
		return last
	}
	return s
}

// reduced is a CNI configuration with nothing but what Whereabouts reads.
func reduced(a *alias.Aliases, config string) string {
	_, c := ipamOf(config)
	c.Range, c.Start, c.End, c.Exclude = rangeWithEnds(a, c.Range), a.Text(c.Start), a.Text(c.End), a.Texts(c.Exclude)
	c.Name = a.Get(nameNames, c.Name)
	c.Ranges = slices.Clone(c.Ranges)
	for i := range c.Ranges {
		r := &c.Ranges[i]
		r.Range, r.Start, r.End, r.Exclude = rangeWithEnds(a, r.Range), a.Text(r.Start), a.Text(r.End), a.Texts(r.Exclude)
	}
	out, _ := json.Marshal(manifest.Object{"cniVersion": "0.3.1", "name": "anonymous", "type": scenarios.PlainPlugin(config), "ipam": c})
	return string(out)
}
