package recorder

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/model/recording"
	"ipamsim/model/route"
)

// only says which clusters have a table.
type only uint8

const (
	everybody   only = iota
	onlyPlain        // with pools that addresses are taken from directly
	onlyBlocks       // with pools that blocks are carved from
	onlyRouting      // nodes announce routes
)

// tables are the tables of a recording, in this order. Pages and reports refer to them by name.
// Truth is the actual state, record the content of the datastore.
var tables = []struct {
	only
	recording.Table
}{
	{everybody, recording.Table{Name: "pools", Title: "Pools", Columns: []string{"pool", "network", "range", "node", "claimed", "about"}}},
	{onlyBlocks, recording.Table{Name: "blocks", Title: "Blocks as stored", Columns: []string{"block", "owner", "affinity", "strict", "used", "free"}}},
	{everybody, recording.Table{Name: "claims", Title: "Claims as stored", Columns: []string{"address", "network", "pool", "pod", "container", "node", "interface", "handle", "kind"}}},
	{onlyPlain, recording.Table{Name: "reservations", Title: "Reservations across ranges", Columns: []string{"reservation", "network", "address", "pod", "interface"}}},
	{onlyBlocks, recording.Table{Name: "affinities", Title: "Affinities of nodes to blocks", Columns: []string{"block", "node", "state"}}},
	{onlyBlocks, recording.Table{Name: "handles", Title: "Handles", Columns: []string{"handle", "counts"}}},
	{everybody, recording.Table{Name: "sandboxes", Title: "Sandboxes that live", Columns: []string{"container", "pod", "node", "interface", "address", "network", "kind", "since"}}},
	{everybody, recording.Table{Name: "pods", Title: "Pods in the API server", Columns: []string{"pod", "phase", "node", "deleting"}}},
	{everybody, recording.Table{Name: "nodes", Title: "Nodes", Columns: []string{"node", "address", "up", "partitioned", "paused", "registered"}}},
	{everybody, recording.Table{Name: "busy", Title: "CNI calls under way", Columns: []string{"call", "pod", "node", "container", "network", "since"}}},
	{onlyRouting, recording.Table{Name: "routes", Title: "Routing tables", Columns: []string{"node", "destination", "route"}}},
	{onlyRouting, recording.Table{Name: "reach", Title: "Nodes that cannot reach addresses on others", Columns: []string{"from", "to", "addresses", "why"}}},
}

// poolNow is a pool as it is filmed: Whereabouts' own, or Calico's IPPool.
type poolNow struct {
	name, network, node, about string
	rng                        netip.Prefix
	claimed                    int
}

// blockNow is a block with its addresses in use.
type blockNow struct {
	model.Pool
	state      string // of its owner's affinity
	used, free int
}

// lostPair are the addresses on a node that another cannot reach.
type lostPair struct{ from, to, addresses, why string }

// followAll says how rows of the record and of the truth are drawn.
func (r *Recording) followAll() {
	r.pools = follow(func(p *poolNow, put func(string, ...string)) {
		key := p.name
		if p.about != "" { // a pool of the other kind may have the same name
			key = "IPPool " + key
		}
		put(key, p.name, p.network, p.rng.String(), p.node, fmt.Sprint(p.claimed), p.about)
	})
	r.blocks = follow(func(b *blockNow, put func(string, ...string)) {
		put(b.Name, b.Range.String(), b.Node, b.state, yes(b.Strict), fmt.Sprint(b.used), fmt.Sprint(b.free))
	})
	r.claims = recording.Follow[model.Claim]{Same: sameClaim, Rows: func(x *model.Claim, put func(string, ...string)) {
		put(x.Pool+" "+x.Addr.String(), x.Addr.String(), r.wires[x.Pool], x.Pool, podCell(x.Pod), x.Container, x.Node, x.Interface, x.Handle, tunnel(x.Tunnel))
	}}
	r.reservations = follow(func(r *model.Reservation, put func(string, ...string)) {
		put(r.Name, r.Name, r.Network, r.Addr.String(), podCell(r.Pod), r.Interface)
	})
	r.affinities = follow(func(a *model.Affinity, put func(string, ...string)) {
		put(a.Block.String()+" "+a.Node, a.Block.String(), a.Node, a.State)
	})
	r.handles = recording.Follow[model.Handle]{
		Same: func(a, b *model.Handle) bool { return a.ID == b.ID && slices.Equal(a.Counts, b.Counts) },
		Rows: func(h *model.Handle, put func(string, ...string)) {
			counts := make([]string, len(h.Counts))
			for i, n := range h.Counts {
				counts[i] = fmt.Sprintf("%s: %d", n.Block, n.Count)
			}
			put(h.ID, h.ID, strings.Join(counts, ", "))
		},
	}
	r.sandboxes = recording.Follow[model.Sandbox]{Same: sameSandbox, Rows: sandboxRows}
	r.reach = follow(func(l *lostPair, put func(string, ...string)) {
		put(l.from+" "+l.to, l.from, l.to, l.addresses, l.why)
	})
}

func follow[T comparable](rows func(*T, func(string, ...string))) recording.Follow[T] {
	return recording.Follow[T]{Same: func(a, b *T) bool { return *a == *b }, Rows: rows}
}

// sameClaim leaves the revision out: it changes with every other claim of a pool.
func sameClaim(a, b *model.Claim) bool {
	return a.Addr == b.Addr && a.Container == b.Container && a.Pod == b.Pod && a.Pool == b.Pool && a.Interface == b.Interface &&
		a.Handle == b.Handle && a.Node == b.Node && a.Tunnel == b.Tunnel && a.Network == b.Network
}

func sameSandbox(a, b *model.Sandbox) bool {
	return a.ID == b.ID && a.Since == b.Since && a.Stopped == b.Stopped && a.Node == b.Node && slices.EqualFunc(a.Attachments, b.Attachments, func(x, y model.Attachment) bool {
		return x.Interface == y.Interface && slices.Equal(x.Addrs, y.Addrs) && slices.Equal(x.Static, y.Static)
	})
}

// sandboxRows are one for each address, or one without for a sandbox that has none
// yet, and none for one that is stopped.
func sandboxRows(s *model.Sandbox, put func(string, ...string)) {
	if s.Stopped {
		return
	}
	kind, pod := "", podCell(s.Pod)
	if s.Pod.Namespace == "" { // a node's own device
		kind, pod = "tunnel", ""
	}
	none := true
	for _, a := range s.Attachments {
		row := func(addr netip.Addr, kind string) {
			none = false
			put(s.ID+" "+a.Interface+" "+addr.String(), s.ID, pod, s.Node, a.Interface, addr.String(), a.Network, kind, clock(a.Since))
		}
		for _, addr := range a.Addrs {
			row(addr, kind)
		}
		for _, addr := range a.Static {
			row(addr, "static")
		}
	}
	if none {
		put(s.ID, s.ID, pod, s.Node, "", "", "", kind, clock(s.Since))
	}
}

// lostPairs are losses by the nodes at both ends, with the reasons that differ.
func lostPairs(losses []route.Loss) []lostPair {
	type pair struct{ from, to string }
	at := map[pair]int{}
	var out []lostPair
	why, last := map[pair][]string{}, map[pair]route.Loss{}
	for i := range losses {
		l := &losses[i]
		p := pair{l.From, l.On}
		k, ok := at[p]
		if !ok {
			k = len(out)
			at[p], out = k, append(out, lostPair{from: l.From, to: l.On})
		}
		out[k].addresses = strings.TrimPrefix(out[k].addresses+" "+l.To.String(), " ")
		cause := *l
		if cause.To, cause.Since = (netip.Addr{}), 0; cause == last[p] {
			continue // most addresses of a node are lost in one way
		}
		last[p] = cause
		text := l.Why()
		if l.Back {
			text = "the answer is lost: " + text
		}
		if l.Some {
			text = "some flows: " + text
		}
		if !slices.Contains(why[p], text) {
			why[p] = append(why[p], text)
			out[k].why = strings.TrimPrefix(out[k].why+"; "+text, "; ")
		}
	}
	return out
}

// about describes the allowed uses of an IPPool's addresses.
func about(p *model.IPPool) string {
	parts := []string{fmt.Sprintf("blocks of /%d", p.BlockBits)}
	add := func(on bool, text string) {
		if on {
			parts = append(parts, text)
		}
	}
	add(p.Disabled, "disabled")
	add(!p.Workloads, "not for pods")
	add(p.Manual, "on request only")
	add(p.Selective, "for some namespaces")
	add(p.IPIP != "" && p.IPIP != "Never", "IPIP "+p.IPIP)
	add(p.VXLAN != "" && p.VXLAN != "Never", "VXLAN "+p.VXLAN)
	add(p.NoExport, "not announced")
	return strings.Join(parts, ", ")
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func tunnel(b bool) string {
	if b {
		return "tunnel"
	}
	return ""
}

func verb(b model.Busy) string {
	if b.Del {
		return "DEL"
	}
	return "ADD"
}

// podCell is a pod's key, "" for none.
func podCell(p model.PodRef) string {
	if p == (model.PodRef{}) {
		return ""
	}
	return p.String()
}

// clock is a virtual time in a cell: nanoseconds only separate messages.
func clock(d time.Duration) string { return d.Round(time.Millisecond).String() }
