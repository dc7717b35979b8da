package model

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/netip"
	"slices"
)

// State is a hash of the kind of situation a cluster is in: equal for two
// instants that differ in names, addresses and time only. A search counts how
// many different ones it has seen.
//
// An address is described by who has it (live sandboxes, claims, reservations,
// by how they fit together) and what is going on with it; the state is the set
// of those descriptions, with the state of the nodes.
func State(t Truth, s Snapshot) uint64 {
	about := map[netip.Addr]*situation{}
	of := func(a netip.Addr) *situation {
		if about[a] == nil {
			about[a] = &situation{}
		}
		return about[a]
	}
	alive := map[string]Sandbox{}
	for _, sb := range t.Sandboxes {
		alive[sb.ID] = sb
		for _, at := range sb.Attachments {
			for _, a := range at.Addrs {
				x := of(a)
				x.Held = min(x.Held+1, 2)
				x.Deleting = x.Deleting || t.Pods[sb.Pod].Deleting
				x.Unhealthy = x.Unhealthy || !t.Nodes[sb.Node].Healthy()
			}
		}
	}
	for _, c := range s.Claims {
		x := of(c.Addr)
		x.Claimed = min(x.Claimed+1, 2)
		busy, under := t.Busy[c.Container]
		_, exists := t.Pods[c.Pod]
		switch {
		case c.Tunnel:
			x.Claimant = "node"
		case under && busy.Del:
			x.Claimant = "del"
		case under:
			x.Claimant = "add"
		case alive[c.Container].ID != "":
			x.Claimant = "live"
		case exists:
			x.Claimant = "pod"
		default:
			x.Claimant = "gone"
		}
	}
	for _, r := range s.Reservations {
		of(r.Addr).Reserved = true
	}
	return digest(t, s, slices.Collect(maps.Values(about)))
}

// situation is one address without its name.
type situation struct {
	Held, Claimed                 int // 2: two or more
	Claimant                      string
	Reserved, Deleting, Unhealthy bool
}

func digest(t Truth, s Snapshot, about []*situation) uint64 {
	set := map[string]bool{}
	kinds := map[situation]bool{} // few, and writing one costs more than finding it
	for _, x := range about {
		kinds[*x] = true
	}
	for x := range kinds {
		set[fmt.Sprintf("%+v", x)] = true
	}
	nodes := map[Node]bool{}
	for _, n := range t.Nodes {
		n.Since = 0
		nodes[n] = true
	}
	for n := range nodes {
		set[fmt.Sprintf("%+v", n)] = true
	}
	for _, b := range t.Busy {
		set[fmt.Sprint("busy ", b.Del)] = true
	}
	owned := map[string]bool{}
	for _, p := range s.Pools {
		set[fmt.Sprint("pool ", p.Node != "", p.Strict, owned[p.Node])] = true
		owned[p.Node] = true
	}
	h := fnv.New64a()
	for _, text := range slices.Sorted(maps.Keys(set)) {
		_, _ = h.Write([]byte(text + "\n"))
	}
	return h.Sum64()
}
