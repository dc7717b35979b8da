package main

import (
	"fmt"
	"net/netip"
	"slices"
)

// ending is one way a packet may end, and where.
type ending struct {
	echo echo
	at   string // a machine
	by   string // the route that it met there, as its destination
}

func (e ending) String() string {
	if e.by == "" {
		return fmt.Sprintf("%s at %s", e.echo, e.at)
	}
	return fmt.Sprintf("%s at %s by %s", e.echo, e.at, e.by)
}

// tables are the routing tables of all machines, as their kernels have them.
type tables map[*machine][]kernelRoute

// hopsMax is the time to live of the longest way that is not a loop, and more.
const hopsMax = 16

// walk follows a packet from a machine to an address and returns every way that it
// may end: several if a table spreads flows, each once, in order.
func (n *network) walk(t tables, from *machine, to netip.Addr) ([]ending, error) {
	endings, err := n.step(t, from, to, hopsMax)
	slices.SortFunc(endings, func(a, b ending) int { return slices.Compare([]byte(a.String()), []byte(b.String())) })
	return slices.Compact(endings), err
}

func (n *network) step(t tables, m *machine, to netip.Addr, hops int) ([]ending, error) {
	switch {
	case hops == 0:
		return []ending{{echo: looped, at: m.name}}, nil
	case m.owns(to):
		return []ending{{echo: answered, at: m.name}}, nil
	}
	r, found, err := match(t[m], to)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return []ending{{echo: unreachable, at: m.name}}, nil
	case r.Type == "blackhole":
		return []ending{{lost, m.name, r.Dst}}, nil
	case r.Type != "":
		return []ending{{unreachable, m.name, r.Dst}}, nil
	}
	var endings []ending
	for _, h := range r.hops() {
		next := to
		if h.Gateway != "" {
			if next, err = netip.ParseAddr(h.Gateway); err != nil {
				return nil, fmt.Errorf("ip route: gateway of %s: %w", r.Dst, err)
			}
		} else if slices.ContainsFunc(m.pods, func(p pod) bool { return p.dev == h.Dev && p.addr == to }) {
			endings = append(endings, ending{echo: answered, at: m.name})
			continue
		}
		neighbor := slices.IndexFunc(n.machines, func(x *machine) bool { return x.owns(next) })
		if neighbor < 0 {
			endings = append(endings, ending{unreachable, m.name, r.Dst})
			continue
		}
		further, err := n.step(t, n.machines[neighbor], to, hops-1)
		if err != nil {
			return nil, err
		}
		endings = append(endings, further...)
	}
	return endings, nil
}

// match is the longest prefix match.
func match(table []kernelRoute, to netip.Addr) (best kernelRoute, found bool, err error) {
	longest := -1
	for _, r := range table {
		p, err := r.prefix()
		if err != nil {
			return kernelRoute{}, false, err
		}
		if p.Contains(to) && p.Bits() > longest {
			best, longest = r, p.Bits()
		}
	}
	return best, longest >= 0, nil
}
