package calico

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/calico/printed"
	"ipamsim/scenarios/dump/kept"
)

// allocations are those that calicoctl ipam check lists, by block and address. Blocks that
// it does not name are added to shown.
func (d *record) allocations(shown map[netip.Prefix]printed.Usage) map[netip.Prefix]map[netip.Addr]printed.Allocation {
	out := map[netip.Prefix]map[netip.Addr]printed.Allocation{}
	checked, guessed := d.c.tables.Checked, false
	named := maps.Clone(shown)
	for _, a := range slices.SortedFunc(maps.Keys(checked), netip.Addr.Compare) {
		var taken []netip.Prefix
		for _, x := range checked[a] {
			p, known := d.blockOf(a, x, named, taken)
			if !p.IsValid() {
				continue
			}
			guessed = guessed || !known && len(taken) > 0
			taken = append(taken, p)
			if _, ok := shown[p]; !ok {
				shown[p] = printed.Usage{CIDR: p, InUse: -1}
			}
			if out[p] == nil {
				out[p] = map[netip.Addr]printed.Allocation{}
			}
			out[p][a] = x
		}
	}
	if guessed {
		d.Unknown("an address with two allocations lies in two overlapping blocks; the report does not name them, so the larger one is assumed")
	}
	return out
}

// blockOf returns the block of an allocation: the one that the text names, that of its node, or any known
// one; else by the pool. Two allocations of one address are of two blocks.
func (d *record) blockOf(a netip.Addr, x printed.Allocation, shown map[netip.Prefix]printed.Usage, taken []netip.Prefix) (p netip.Prefix, known bool) {
	if x.Block.IsValid() {
		return x.Block, true
	}
	var some netip.Prefix
	for _, p := range slices.SortedFunc(maps.Keys(shown), netip.Prefix.Compare) {
		if !p.Contains(a) || slices.Contains(taken, p) {
			continue
		}
		if !x.Borrowed && shown[p].Affinity == "host:"+x.Node {
			return p, true
		}
		if !some.IsValid() {
			some = p
		}
	}
	if some.IsValid() {
		return some, true
	}
	usual := 26
	if a.Is6() {
		usual = 122
	}
	for _, name := range kept.Keys(d.pools) {
		if p, err := netip.ParsePrefix(d.pools[name].CIDR); err == nil && p.Contains(a) {
			usual, known = cmp.Or(d.pools[name].BlockSize, usual), true
			break
		}
	}
	if len(d.pools) > 0 && !known {
		return netip.Prefix{}, false
	}
	p, err := a.Prefix(usual - len(taken))
	return p, known && err == nil
}

// workloads makes endpoints of the pods that calicoctl ipam check found in use, for a dump
// without WorkloadEndpoints.
func (d *record) workloads() {
	c := d.c
	if len(c.tables.InUse) == 0 || len(c.endpoints) > 0 {
		return
	}
	for _, w := range c.tables.InUse {
		key := w.Namespace + "/" + w.Pod
		e := c.endpoints[key]
		if e == nil {
			e = &kept.Item[endpoint]{Value: endpoint{Namespace: w.Namespace, Pod: w.Pod, Node: w.Node}}
			c.endpoints[key] = e
		}
		ip := netip.PrefixFrom(w.Addr, w.Addr.BitLen()).String()
		if !slices.Contains(e.Value.IPs, ip) {
			e.Value.IPs = append(e.Value.IPs, ip)
		}
		for _, x := range c.tables.Checked[w.Addr] {
			if x.Namespace == w.Namespace && x.Pod == w.Pod {
				e.Value.Container, _ = strings.CutPrefix(x.Handle, podHandle)
			}
		}
	}
	c.Count("WorkloadEndpoint."+secondGroup, 0) // they are all that have an address
}

// row takes a line of a table.
func (c *objects) row(from dump.Origin, head string, row []string) error {
	what, err := c.tables.Row(from, head, row)
	switch {
	case what != "" && err == nil:
		c.Count(what, 1)
	case row != nil && err == nil:
		c.Ignore("lines of other tables")
	}
	return err
}
