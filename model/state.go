package model

import (
	"hash/fnv"
	"maps"
	"net/netip"
	"slices"
	"strconv"
)

// State is a hash of the kind of situation of a cluster: it is equal for two instants that differ
// only in names, addresses and time. A search counts the different states that it has seen.
//
// An address is described by its holders (live sandboxes, claims, reservations, and whether they
// agree) and the calls that concern it. The state is the set of these descriptions, with the state
// of the nodes.
func State(t Truth, s Snapshot) uint64 {
	about := addresses{at: make(map[netip.Addr]int, 2*len(t.Sandboxes)), alone: map[situation]bool{}}
	alive := make(map[string]bool, len(t.Sandboxes))
	for i := range t.Sandboxes {
		sb := &t.Sandboxes[i]
		if sb.Stopped {
			continue
		}
		alive[sb.ID] = true
		for _, at := range sb.Attachments {
			for _, a := range at.Addrs {
				x := about.of(a)
				x.Held = min(x.Held+1, 2)
				x.Deleting = x.Deleting || t.Pods[sb.Pod].Deleting
				x.Unhealthy = x.Unhealthy || !t.Nodes[sb.Node].Healthy()
			}
		}
	}
	for _, r := range s.Reservations {
		about.of(r.Addr).Reserved = true
	}
	once := ascending(s.Claims)
	for i := range s.Claims {
		c := &s.Claims[i]
		by := claimant(t, c, alive)
		if _, known := about.at[c.Addr]; once && !known {
			about.alone[situation{Claimed: 1, Claimant: by}] = true
			continue
		}
		x := about.of(c.Addr)
		x.Claimed, x.Claimant = min(x.Claimed+1, 2), by
	}
	return digest(t, s, about)
}

// addresses are the situations: by address if there is more than a claim, and otherwise those that
// a single claim produces.
type addresses struct {
	at    map[netip.Addr]int
	list  []situation
	alone map[situation]bool
}

func (as *addresses) of(a netip.Addr) *situation {
	i, ok := as.at[a]
	if !ok {
		i = len(as.list)
		as.at[a], as.list = i, append(as.list, situation{})
	}
	return &as.list[i]
}

// ascending reports whether no address can be claimed twice, because each is
// higher than the one before: they are sorted by pool, and pools hardly overlap.
func ascending(claims []Claim) bool {
	for i := 1; i < len(claims); i++ {
		if !claims[i-1].Addr.Less(claims[i].Addr) {
			return false
		}
	}
	return true
}

// claimant is the state of the container for which an address is claimed.
func claimant(t Truth, c *Claim, alive map[string]bool) string {
	busy, under := t.Busy[c.Container]
	switch {
	case c.Tunnel:
		return "node"
	case under && busy.Del:
		return "del"
	case under:
		return "add"
	case alive[c.Container]:
		return "live"
	}
	if _, exists := t.Pods[c.Pod]; exists { // hardly ever asked for, and dear
		return "pod"
	}
	return "gone"
}

// situation is one address without its name.
type situation struct {
	Held, Claimed                 int // 2: two or more
	Claimant                      string
	Reserved, Deleting, Unhealthy bool
}

func digest(t Truth, s Snapshot, about addresses) uint64 {
	set := map[string]bool{}
	kinds := about.alone // few, and writing one costs more than finding it
	for _, x := range about.list {
		kinds[x] = true
	}
	for x := range kinds {
		set[x.text()] = true
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

// text equals fmt's %+v at a tenth of its cost: a state is computed after every step.
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
