package dump

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/scenarios/dump/alias"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/unread"
	"ipamsim/scenarios/dump/workload"
	"ipamsim/scenarios/strict"
)

// anonymise replaces every name of the draft, and the addresses of nodes.
func (d *Draft) anonymise() error {
	for _, r := range d.present {
		if r.record.Names == nil || r.record.Ranges == nil || r.record.Rename == nil {
			return &strict.Error{File: unread.Files(d.sources), Problem: fmt.Sprintf("the names of a record of %s cannot be replaced: import without --anonymise", r.importer.Title)}
		}
	}
	a := d.aliases()
	d.renumber(a)
	for _, r := range d.present {
		if err := r.record.Rename(a); err != nil {
			return err
		}
	}
	d.aliasNodes(a)
	for _, all := range [][]Running{d.Running, d.waiting, d.finished} {
		for i := range all {
			d.alias(&all[i], a)
		}
		// The original order would identify them.
		slices.SortFunc(all, func(x, y Running) int { return cmp.Compare(x.Ref(), y.Ref()) })
	}
	d.report.Index.Forget()
	for i := range d.report.Absent {
		d.report.Absent[i].Pod = a.Ref(d.report.Absent[i].Pod)
	}
	for _, name := range kept.Keys(d.report.supplied) {
		d.report.supplied[a.Get(alias.Node, name)] = true
	}
	for i, u := range d.report.Unjudged {
		u.Namespaces = slices.Clone(u.Namespaces)
		for k, ns := range u.Namespaces {
			u.Namespaces[k] = a.Get(alias.Namespace, ns)
		}
		if len(u.Pools) > 0 { // their files are a company's own, as their names are
			u.Pools, u.Without = []string{"pools"}, []string{"a file"}
		}
		d.report.Unjudged[i] = u
	}
	return nil
}

// aliases gives an alias to every name that there is.
func (d *Draft) aliases() *alias.Aliases {
	n := alias.Names{}
	for _, kind := range []string{alias.Node, alias.Namespace, alias.Pod, alias.Container, alias.Network, alias.Label, alias.Value, alias.Workload} {
		n.Add(kind)
	}
	for _, r := range d.present {
		r.record.Names(n)
	}
	n.Add(alias.Node, kept.Keys(d.Nodes)...)
	for _, x := range d.Nodes {
		n.Node(x)
	}
	n.Add(alias.Namespace, kept.Keys(d.spaces)...)
	for _, x := range d.spaces {
		n.Labels(x.Labels)
	}
	for _, p := range slices.Concat(d.Running, d.waiting, d.finished) {
		n.Pod(p.Pod)
		n.Add(alias.Node, p.Node)
		n.Add(alias.Container, p.ID, d.annotated(&p))
	}
	a := alias.Of(n)
	for _, p := range slices.Concat(d.Running, d.waiting, d.finished) { // a StatefulSet's pods keep its name
		if i, ok := workload.Ordinal(p.Name, p.Owner.Name); ok && p.Owner.Kind == "StatefulSet" {
			a.Set(alias.Pod, p.Name, fmt.Sprintf("%s-%d", a.Get(alias.Workload, p.Owner.Name), i))
		}
	}
	return a
}

// renumber gives nodes other addresses, in subnets as they share them now, and
// pools too if that is asked for.
func (d *Draft) renumber(a *alias.Aliases) {
	taken := d.ranges()
	if d.Options.Addresses {
		taken = a.Move(taken)
	}
	for _, key := range d.nodeAddresses() {
		var all []netip.Prefix
		for _, n := range d.Nodes {
			if p, err := netip.ParsePrefix(n.Annotations[key]); err == nil {
				all = append(all, p)
			}
		}
		lengths := a.Renumber(all, taken)
		for _, n := range d.Nodes {
			if p, err := netip.ParsePrefix(n.Annotations[key]); err == nil {
				n.Renumbered = kept.Over(n.Renumbered, map[string]string{key: netip.PrefixFrom(a.Address(p.Addr()), lengths[p.Masked()]).String()})
			}
		}
	}
}

func (d *Draft) nodeAddresses() (out []string) {
	for _, r := range d.readings {
		out = append(out, r.importer.NodeAddresses...)
	}
	return out
}

// ranges are all that addresses of the record lie in.
func (d *Draft) ranges() []netip.Prefix {
	var all []netip.Prefix
	add := func(texts ...string) {
		for _, s := range texts {
			if p, err := netip.ParsePrefix(s); err == nil {
				all = append(all, p.Masked())
			} else if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
				all = append(all, netip.PrefixFrom(a, a.BitLen()))
			}
		}
	}
	for _, r := range d.present {
		add(r.record.Ranges()...)
	}
	for _, cl := range d.claims() {
		add(cl.Addr.String())
	}
	for _, p := range slices.Concat(d.Running, d.waiting, d.finished) {
		for _, x := range p.every() {
			add(x.String())
		}
	}
	for _, n := range d.Nodes {
		for k, v := range n.Annotations {
			if !slices.Contains(d.nodeAddresses(), k) {
				add(v)
			}
		}
	}
	return all
}

// every is every address that a pod has.
func (r *Running) every() []netip.Addr {
	all := slices.Clone(r.Addrs)
	for _, x := range r.Attached {
		all = append(all, x.Addrs...)
	}
	return all
}

func (d *Draft) aliasNodes(a *alias.Aliases) {
	nodes := map[string]*kept.Node{}
	for name, n := range d.Nodes {
		m := a.Node(n)
		for k, v := range n.Annotations {
			if v := d.note(a, k, v); n.Renumbered[k] != "" {
				m.Annotations[k] = n.Renumbered[k]
			} else if v != "" && d.keptOfNode(k) && !slices.Contains(d.nodeAddresses(), k) {
				m.Annotations[k] = v
			}
		}
		nodes[a.Get(alias.Node, name)] = m
	}
	d.Nodes = nodes
	spaces := map[string]*kept.Namespace{}
	for name, n := range d.spaces {
		spaces[a.Get(alias.Namespace, name)] = &kept.Namespace{Labels: a.Labels(n.Labels)}
	}
	d.spaces = spaces
}

// note is what stands in an annotation of an anonymised pod or node, "" for what no manager
// knows.
func (c *Cluster) note(a *alias.Aliases, key, value string) string {
	for _, r := range c.readings {
		if i := r.importer; i.Note != nil && (begins(key, i.PodNotes) || begins(key, i.NodeNotes)) {
			return i.Note(a, key, value)
		}
	}
	return ""
}

// alias replaces what a pod is called and where it is.
func (d *Draft) alias(r *Running, a *alias.Aliases) {
	p := a.Pod(r.Pod)
	for k, v := range r.Annotations {
		if v = d.note(a, k, v); v != "" {
			p.Annotations[k] = v
		}
	}
	r.Pod, r.ID = p, a.Container(r.ID)
	r.Addrs = slices.Clone(r.Addrs)
	for i, x := range r.Addrs {
		r.Addrs[i] = a.Address(x)
	}
	for i := range r.Attached {
		x := &r.Attached[i]
		x.Network = a.InNamespace(alias.Network, x.Network)
		x.Addrs = slices.Clone(x.Addrs)
		for k, y := range x.Addrs {
			x.Addrs[k] = a.Address(y)
		}
	}
	for i := range r.Asked {
		s := &r.Asked[i]
		s.Name, s.Namespace, s.IPs = a.Get(alias.Network, s.Name), a.Get(alias.Namespace, s.Namespace), a.Texts(s.IPs)
	}
}
