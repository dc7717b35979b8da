package dump

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// anonymise replaces every name of the draft, and the addresses of nodes.
func (d *draft) anonymise() error {
	a := newAliases()
	d.collect(a)
	d.renumber(a)
	if err := d.aliasPools(a); err != nil {
		return err
	}
	d.aliasNodes(a)
	d.aliasRecord(a)
	d.aliasRanges(a)
	for i := range d.running {
		d.running[i].alias(a)
	}
	for i := range d.waiting {
		d.waiting[i].alias(a)
	}
	for i := range d.finished {
		d.finished[i].alias(a)
	}
	for _, all := range [][]running{d.running, d.waiting, d.finished} { // their order would tell who is who
		slices.SortFunc(all, func(x, y running) int { return cmp.Compare(x.ref(), y.ref()) })
	}
	d.fabric.AS, d.fabric.TopOfRack.AS, d.fabric.TopOfRack.ASNumbers = 0, 0, nil
	for i, n := range d.fabric.Reflectors {
		d.fabric.Reflectors[i] = a.get("node", n)
	}
	d.report.origins = map[string]Origin{}
	for i, u := range d.report.Unjudged {
		u.Namespaces = slices.Clone(u.Namespaces)
		for k, ns := range u.Namespaces {
			u.Namespaces[k] = a.get("namespace", ns)
		}
		if len(u.Pools) > 0 { // their files are a company's own, as their names are
			u.Pools, u.Without = []string{"pools"}, []string{"a file"}
		}
		d.report.Unjudged[i] = u
	}
	return nil
}

func (d *draft) aliasPools(a *aliases) error {
	pools := map[string]*poolSpec{}
	for name, p := range d.pools {
		q := *p
		q.CIDR = a.text(p.CIDR)
		var err error
		if q.NodeSelector, err = a.selector(p.NodeSelector); err != nil {
			return err
		}
		if q.NamespaceSelector, err = a.selector(p.NamespaceSelector); err != nil {
			return err
		}
		pools[a.get("pool", name)] = &q
	}
	d.pools = pools
	all := map[string]*reservationSpec{}
	for name, r := range d.reserving {
		all[a.get("reservation", name)] = &reservationSpec{a.texts(r.ReservedCIDRs)}
	}
	d.reserving = all
	return nil
}

// labels keeps those that a selector asks for.
func (a *aliases) labels(m map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		if _, asked := a.of["label"][k]; asked {
			out[a.key(k)] = a.get("value", v)
		}
	}
	return out
}

func (d *draft) aliasNodes(a *aliases) {
	nodes := map[string]*node{}
	for name, n := range d.nodes {
		m := &node{Labels: a.labels(n.Labels), Cordoned: n.Cordoned, Unheard: n.Unheard, Annotations: map[string]string{}}
		for _, t := range n.Taints {
			m.Taints = append(m.Taints, taint{a.key(t.Key), a.get("value", t.Value), t.Effect})
		}
		for k, v := range n.Annotations {
			k = strings.TrimPrefix(k, nodeAnnotations)
			switch {
			case n.lengths[k] != "":
				m.Annotations[nodeAnnotations+k] = n.lengths[k]
			case !keptAnnotations[k], k == "IPv4Address", k == "IPv6Address", k == "ASNumber":
			case k == "RouteReflectorClusterID":
				m.Annotations[nodeAnnotations+k] = "224.0.0.1"
			case a.text(v) != "":
				m.Annotations[nodeAnnotations+k] = a.text(v)
			}
		}
		nodes[a.get("node", name)] = m
	}
	d.nodes = nodes
	spaces := map[string]*namespace{}
	for name, n := range d.spaces {
		spaces[a.get("namespace", name)] = &namespace{Labels: a.labels(n.Labels)}
	}
	d.spaces = spaces
}

func (d *draft) aliasRecord(a *aliases) {
	blocks := map[string]*blockSpec{}
	for _, b := range d.blocks {
		n := *b
		n.CIDR = a.text(b.CIDR)
		if kind, host, ok := strings.Cut(deref(b.Affinity), ":"); ok {
			s := kind + ":" + a.get("node", host)
			n.Affinity = &s
		}
		n.Attributes = make([]attribute, len(b.Attributes))
		for i, at := range b.Attributes {
			if at.Handle != nil {
				h := a.handle(*at.Handle)
				n.Attributes[i].Handle = &h
			}
			if at.Secondary == nil {
				continue
			}
			s := map[string]string{}
			for _, k := range []string{"node", "namespace", "pod"} {
				if v := at.Secondary[k]; v != "" {
					s[k] = a.get(k, v)
				}
			}
			if v := at.Secondary["type"]; strings.HasSuffix(v, "TunnelAddress") {
				s["type"] = v
			}
			n.Attributes[i].Secondary = s
		}
		blocks[n.CIDR] = &n
	}
	d.blocks = blocks
	for i := range d.affinities {
		x := &d.affinities[i]
		x.Node, x.CIDR = a.get("node", x.Node), a.text(x.CIDR)
	}
	handles := map[string]*handleSpec{}
	for id, h := range d.handles {
		n := &handleSpec{HandleID: a.handle(id), Block: map[string]int{}, Deleted: h.Deleted}
		for b, count := range h.Block {
			n.Block[a.text(b)] = count
		}
		handles[n.HandleID] = n
	}
	d.handles = handles
}

func (d *draft) aliasRanges(a *aliases) {
	networks := d.networks
	pools := map[string]*rangePool{}
	for key, p := range d.ranged {
		n := &rangePool{Range: a.text(p.Range), Allocations: map[string]allocation{}}
		for k, x := range p.Allocations {
			n.Allocations[k] = allocation{a.container(x.ID), a.ref(x.PodRef), x.IfName}
		}
		pools[whereaboutsNamespace+"/"+a.rangeName(key, p.Range, n.Range)] = n
	}
	reserved := map[string]*rangeReservation{}
	for key, r := range d.reserved {
		reserved[whereaboutsNamespace+"/"+a.reservationName(key, networks)] = &rangeReservation{a.container(r.ContainerID), a.ref(r.PodRef), r.IfName}
	}
	sliced := map[string]*slicePool{}
	for key, p := range d.sliced {
		n := &slicePool{Spec: p.Spec}
		n.Spec.Range = a.text(p.Spec.Range)
		for _, s := range p.Status.Allocations {
			n.Status.Allocations = append(n.Status.Allocations, slice{a.get("node", s.NodeName), a.text(s.SliceRange)})
		}
		_, name, _ := strings.Cut(key, "/")
		sliced[whereaboutsNamespace+"/"+a.rangeName("/"+name, p.Spec.Range, n.Spec.Range)] = n
	}
	d.ranged, d.reserved, d.sliced = pools, reserved, sliced
	d.networks = nil
	for _, n := range networks {
		ns, name, _ := strings.Cut(n.key, "/")
		d.networks = append(d.networks, networkOf(a.get("namespace", ns)+"/"+a.get("network", name), a.reduced(n.config)))
	}
	slices.SortFunc(d.networks, func(x, y network) int { return cmp.Compare(x.key, y.key) })
}

// rangeName is the name of a pool, [NETWORK-][NODE-]RANGE, in other words.
func (a *aliases) rangeName(key, from, to string) string {
	_, name, _ := strings.Cut(key, "/")
	rest, ok := strings.CutSuffix(name, rangeText(from))
	if !ok { // of a node's slice, or of a network by its own name
		return a.words(name)
	}
	if rest == "" {
		return rangeText(to)
	}
	return a.words(strings.TrimSuffix(rest, "-")) + "-" + rangeText(to)
}

// words replaces names of networks and nodes, which a dash may join.
func (a *aliases) words(s string) string {
	if s == "" {
		return ""
	}
	for _, kind := range []string{"name", "network", "node"} {
		if alias, ok := a.of[kind][s]; ok {
			return alias
		}
	}
	for i := range len(s) {
		if s[i] == '-' {
			if name, ok := a.of["name"][s[:i]]; ok {
				if node, ok := a.of["node"][s[i+1:]]; ok {
					return name + "-" + node
				}
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

func (a *aliases) reservationName(key string, networks []network) string {
	_, name, _ := strings.Cut(key, "/")
	prefix := ""
	for _, n := range networks {
		if rest, ok := strings.CutPrefix(name, n.name+"-"); ok && n.name != "" {
			name, prefix = rest, a.get("name", n.name)+"-"
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
	return prefix + normalized(a.address(x))
}

// rangeText of a configuration is a CIDR, or an address and a CIDR with its last.
func (a *aliases) rangeText(s string) string {
	if first, last, ok := strings.Cut(s, "-"); ok {
		return a.text(first) + "-" + a.text(last)
	}
	return a.text(s)
}

func cidrOf(s string) string {
	if _, last, ok := strings.Cut(s, "-"); ok {
		return last
	}
	return s
}

// alias replaces what a pod is called and where it is.
func (r *running) alias(a *aliases) {
	p := pod{
		Namespace: a.get("namespace", r.Namespace), Name: a.get("pod", r.Name), Node: a.get("node", r.Node),
		Phase: r.Phase, Deleting: r.Deleting, Annotations: map[string]string{},
		Owner: Owner{r.Owner.Kind, a.get("workload", r.Owner.Name)}, Affine: r.Affine,
	}
	if len(r.Selector) > 0 {
		p.Selector = a.labels(r.Selector)
	}
	for _, t := range r.Tolerations {
		key := t.Key
		if key != "" { // "": every taint
			key = a.key(key)
		}
		p.Tolerations = append(p.Tolerations, toleration{key, t.Operator, a.get("value", t.Value), t.Effect, t.Seconds})
	}
	for _, k := range []string{"podIP", "podIPs"} {
		if v := r.Annotations[calicoAnnotations+k]; v != "" {
			p.Annotations[calicoAnnotations+k] = strings.Join(a.texts(strings.Split(v, ",")), ",")
		}
	}
	if id := r.Annotations[containerByCalico]; id != "" {
		p.Annotations[containerByCalico] = a.container(id)
	}
	r.pod, r.container = &p, a.container(r.container)
	r.addrs = slices.Clone(r.addrs)
	for i, x := range r.addrs {
		r.addrs[i] = a.address(x)
	}
	for i := range r.attached {
		x := &r.attached[i]
		ns, name, _ := strings.Cut(x.network, "/")
		x.network = a.get("namespace", ns) + "/" + a.get("network", name)
		x.addrs = slices.Clone(x.addrs)
		for k, y := range x.addrs {
			x.addrs[k] = a.address(y)
		}
	}
	for i := range r.asked {
		s := &r.asked[i]
		s.Name, s.Namespace, s.IPs = a.get("network", s.Name), a.get("namespace", s.Namespace), a.texts(s.IPs)
	}
}
