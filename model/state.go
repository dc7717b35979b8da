package model

import (
	"hash/fnv"
	"maps"
	"net/netip"
	"slices"
	"strconv"
)

// State is a hash of the kind of situation a cluster is in: equal for two
// instants that differ in names, addresses and time only. A search counts how
// many different ones it has seen.
//
// An address is described by who has it (live sandboxes, claims, reservations,
// by how they fit together) and what is going on with it; the state is the set
// of those descriptions, with the state of the nodes.
func State(t Truth, s Snapshot) uint64 {
	index := make(map[netip.Addr]int, len(s.Claims)+len(t.Sandboxes))
	about := make([]situation, 0, len(s.Claims)+len(t.Sandboxes))
	of := func(a netip.Addr) *situation {
		i, ok := index[a]
		if !ok {
			i = len(about)
			index[a], about = i, append(about, situation{})
		}
		return &about[i]
	}
	alive := make(map[string]bool, len(t.Sandboxes))
	for i := range t.Sandboxes {
		sb := &t.Sandboxes[i]
		alive[sb.ID] = true
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
		case alive[c.Container]:
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
	return digest(t, s, about)
}

// situation is one address without its name.
type situation struct {
	Held, Claimed                 int // 2: two or more
	Claimant                      string
	Reserved, Deleting, Unhealthy bool
}

func digest(t Truth, s Snapshot, about []situation) uint64 {
	set := map[string]bool{}
	kinds := map[situation]bool{} // few, and writing one costs more than finding it
	for _, x := range about {
		if !kinds[x] {
			kinds[x] = true
			set[x.text()] = true
		}
	}
	nodes := map[Node]bool{}
	for _, n := range t.Nodes {
		n.Since = 0
		if !nodes[n] {
			nodes[n] = true
			set[n.text()] = true
		}
	}
	for _, b := range t.Busy {
		set["busy "+strconv.FormatBool(b.Del)] = true
	}
	owned := map[string]bool{}
	for _, p := range s.Pools {
		set[poolText(p.Node != "", p.Strict, owned[p.Node])] = true
		owned[p.Node] = true
	}
	h := fnv.New64a()
	for _, text := range slices.Sorted(maps.Keys(set)) {
		_, _ = h.Write([]byte(text + "\n"))
	}
	return h.Sum64()
}

// text is fmt's %+v, at a tenth of its cost: a state is taken after every step.
func (x situation) text() string {
	b := make([]byte, 0, 96)
	b = strconv.AppendInt(append(b, "{Held:"...), int64(x.Held), 10)
	b = strconv.AppendInt(append(b, " Claimed:"...), int64(x.Claimed), 10)
	b = append(append(b, " Claimant:"...), x.Claimant...)
	b = strconv.AppendBool(append(b, " Reserved:"...), x.Reserved)
	b = strconv.AppendBool(append(b, " Deleting:"...), x.Deleting)
	b = strconv.AppendBool(append(b, " Unhealthy:"...), x.Unhealthy)
	return string(append(b, '}'))
}

// text is fmt's %+v.
func (n Node) text() string {
	b := make([]byte, 0, 96)
	b = strconv.AppendBool(append(b, "{Up:"...), n.Up)
	b = strconv.AppendBool(append(b, " Partitioned:"...), n.Partitioned)
	b = strconv.AppendBool(append(b, " Registered:"...), n.Registered)
	b = strconv.AppendBool(append(b, " Paused:"...), n.Paused)
	return string(append(b, " Since:"+n.Since.String()+"}"...))
}

func poolText(node, strict, again bool) string {
	b := strconv.AppendBool([]byte("pool "), node)
	b = strconv.AppendBool(append(b, ' '), strict)
	return string(strconv.AppendBool(append(b, ' '), again))
}
