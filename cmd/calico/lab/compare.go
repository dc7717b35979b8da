package main

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/cmd/calico/lab/netns"
	"ipamsim/model/route/fib"
)

// compareTables compares every machine's table in the kernel with the model's.
// lines are both, of the machines where they differ, or of all.
func (n *network) compareTables(model *fib.Tables, all bool) (lines, differences []string, err error) {
	for _, m := range n.machines {
		kernel, err := m.space.Routes(n.tools.IP, m.six())
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", m.name, err)
		}
		table, ok := model.Of(m.name)
		if !ok {
			return nil, nil, fmt.Errorf("the model has no table of %s", m.name)
		}
		have, want := n.gist(m, kernel), n.gist(m, table.Routes)
		differ := !slices.Equal(have, want)
		if differ {
			differences = append(differences, fmt.Sprintf("%s: its table differs from the model's", m.name))
		}
		if differ || all {
			lines = append(lines, m.name+"# "+netns.IPRoute(m.six()))
			lines = append(lines, marked(have, want)...)
			lines = append(lines, m.name+" in the model")
			lines = append(lines, marked(want, have)...)
		}
	}
	return lines, differences, nil
}

// marked indents lines and marks those that others lack.
func marked(lines, others []string) (out []string) {
	for _, l := range lines {
		mark := "  "
		if !slices.Contains(others, l) {
			mark = "* "
		}
		out = append(out, mark+strings.ReplaceAll(l, "\n", "\n        "))
	}
	return out
}

// gist is what must be the same in a kernel and in the model: of a node all that
// ip route prints; of a router, whose cables to others the model does not know,
// where each route leads.
func (n *network) gist(m *machine, routes []fib.Route) (lines []string) {
	for _, r := range routes {
		for i, via := range r.Via {
			r.Via[i] = n.global(via)
		}
		if r.Dev == netns.IPIPDevice && r.Proto == "" {
			r.Proto = fib.BIRD // in whose place the lab put it there
		}
		if !m.router {
			lines = append(lines, r.String())
			continue
		}
		if (spineSubnet.Overlaps(r.Dst) || spineSubnet6.Overlaps(r.Dst)) && r.Dst.Bits() > 0 {
			continue
		}
		to := []string{"here"}
		if len(r.Via) > 0 {
			to = nil
		}
		for _, via := range r.Via {
			to = append(to, n.ownerOf(via))
		}
		slices.Sort(to)
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s to %s", r.Type, r.Dst, strings.Join(to, " and "))))
	}
	slices.Sort(lines)
	return lines
}

// global is the address that a next hop has beside its link-local one: a router in IPv6
// is reached by that, and the model names it by the other.
func (n *network) global(via netip.Addr) netip.Addr {
	if !via.IsLinkLocalUnicast() || via.Is4() {
		return via
	}
	for _, m := range n.machines {
		for _, p := range m.ports {
			if m.space != nil && m.space.Has(p.name, via) {
				return p.addr.Addr()
			}
		}
	}
	return via
}

// ownerOf names the machine that has an address.
func (n *network) ownerOf(a netip.Addr) string {
	for _, m := range n.machines {
		if m.owns(a) {
			return m.name
		}
	}
	return a.String()
}
