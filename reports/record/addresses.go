package record

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/recording"
	"ipamsim/reports"
)

// addresses returns the history of all addresses of a run from its recording: the sandboxes that
// had each, the claims, and the differences. Sorted by network, then address.
//
// A span starts at the first step after which it is visible. A loss of routes counts if it lasts
// longer than the routes may take to spread.
func addresses(r *reports.Report) []Held {
	if r.Recording == nil {
		return []Held{}
	}
	l := newHistories(r)
	for _, f := range r.Recording.Frames {
		for _, c := range f.Changes {
			l.change(c)
		}
		for w := range l.dirty {
			l.judge(w, f)
		}
		clear(l.dirty)
	}
	return l.held(r)
}

// wire is an address of a network.
type wire struct {
	network string
	addr    netip.Addr
	node    string // set if the network is local to each node
}

// histories computes the spans of all addresses from a recording.
type histories struct {
	networks []model.Network
	column   map[string]map[string]int // of each table, by name
	table    []string

	addr       map[wire]*history
	dirty      map[wire]bool
	claims     map[string]*holder // by row
	sandboxes  map[string]*holder
	live       map[string]int                // addresses of each container, or handle of a tunnel
	calls      map[string]callOf             // in progress, by container
	calling    map[string]int                // and by pod
	registered map[string]bool               // nodes
	lost       map[string]lostTo             // by row of reach
	of         map[model.Ref]map[wire]bool   // addresses related to a container, pod or node
	lostAt     map[netip.Addr]map[string]int // number of nodes that do not reach it, by its node
}

// holder is a sandbox that has an address, or a claim.
type holder struct {
	at                   wire
	container, pod, node string // the handle for a tunnel's
	kind                 string // "tunnel", "static" or ""
}

// callOf is a CNI call of a pod.
type callOf struct {
	del bool
	pod string
}

type lostTo struct {
	node  string
	addrs []netip.Addr
}

// history is the present state of one address, and its past spans.
type history struct {
	claims, sandboxes map[string]*holder
	open              map[band]Span
	spans             []Span
}

// band identifies a span among those open at the same time.
type band struct {
	kind      SpanKind
	container string
	who, node string
}

func newHistories(r *reports.Report) *histories {
	l := &histories{
		networks: r.Networks, column: map[string]map[string]int{}, addr: map[wire]*history{}, dirty: map[wire]bool{},
		claims: map[string]*holder{}, sandboxes: map[string]*holder{}, live: map[string]int{}, calls: map[string]callOf{}, calling: map[string]int{},
		registered: map[string]bool{}, lost: map[string]lostTo{}, of: map[model.Ref]map[wire]bool{}, lostAt: map[netip.Addr]map[string]int{},
	}
	for _, t := range r.Recording.Tables {
		cols := map[string]int{}
		for i, name := range t.Columns {
			cols[name] = i
		}
		l.table, l.column[t.Name] = append(l.table, t.Name), cols
	}
	return l
}

// cell is a cell of a row by the name of its column, "" if there is none.
func (l *histories) cell(c recording.Change, column string) string {
	if i, ok := l.column[l.table[c.Table]][column]; ok && i < len(c.Row) {
		return c.Row[i]
	}
	return ""
}

func (l *histories) change(c recording.Change) {
	switch l.table[c.Table] {
	case "claims":
		l.hold(l.claims, c, func(a *history) map[string]*holder { return a.claims })
	case "sandboxes":
		if old := l.sandboxes[c.Key]; old != nil {
			l.live[old.container]--
			l.touch(model.RefContainer, old.container)
		}
		l.hold(l.sandboxes, c, func(a *history) map[string]*holder { return a.sandboxes })
		if now := l.sandboxes[c.Key]; now != nil {
			l.live[now.container]++
			l.touch(model.RefContainer, now.container)
		}
	case "busy":
		call := callOf{l.cell(c, "call") == "DEL", l.cell(c, "pod")}
		if old, ok := l.calls[c.Key]; ok {
			l.calling[old.pod]--
		}
		if c.Row == nil {
			call = l.calls[c.Key]
			delete(l.calls, c.Key)
		} else {
			l.calls[c.Key] = call
			l.calling[call.pod]++
		}
		l.touch(model.RefContainer, c.Key)
		l.touch(model.RefPod, call.pod)
	case "nodes":
		l.registered[c.Key] = l.cell(c, "registered") == "yes"
		l.touch(model.RefNode, c.Key)
	case "reach":
		l.reach(c)
	}
}

// hold brings a row of claims or sandboxes up to date.
func (l *histories) hold(rows map[string]*holder, c recording.Change, of func(*history) map[string]*holder) {
	if old := rows[c.Key]; old != nil {
		delete(rows, c.Key)
		if a := l.addr[old.at]; a != nil {
			delete(of(a), c.Key)
			l.dirty[old.at] = true
		}
	}
	if c.Row == nil {
		return
	}
	h := &holder{container: l.cell(c, "container"), pod: l.cell(c, "pod"), node: l.cell(c, "node"), kind: l.cell(c, "kind")}
	if h.kind == "tunnel" && h.container == "" {
		h.container = l.cell(c, "handle")
	}
	rows[c.Key] = h
	addr, err := netip.ParseAddr(l.cell(c, "address"))
	if err != nil {
		return // a sandbox that has none yet
	}
	h.at = l.wireOf(l.cell(c, "network"), h.node, addr)
	a := l.addr[h.at]
	if a == nil {
		a = &history{claims: map[string]*holder{}, sandboxes: map[string]*holder{}, open: map[band]Span{}}
		l.addr[h.at] = a
	}
	of(a)[c.Key] = h
	l.dirty[h.at] = true
	for _, owner := range []model.Ref{{Kind: model.RefContainer, Name: h.container}, {Kind: model.RefPod, Name: h.pod}, {Kind: model.RefNode, Name: h.node}} {
		if l.of[owner] == nil {
			l.of[owner] = map[wire]bool{}
		}
		l.of[owner][h.at] = true
	}
}

// wireOf is where an address is held: where networks are local, on each node another.
func (l *histories) wireOf(network, node string, addr netip.Addr) wire {
	w := wire{network: model.Wire(l.networks, network, addr), addr: addr}
	if n := model.NetworkByKey(l.networks, network); n != nil && n.Local {
		w.node = node
	}
	return w
}

// touch makes everything be judged again that has to do with a container, a pod or
// a node.
func (l *histories) touch(kind model.RefKind, name string) {
	for w := range l.of[model.Ref{Kind: kind, Name: name}] {
		l.dirty[w] = true
	}
}

func (l *histories) reach(c recording.Change) {
	count := func(x lostTo, n int) {
		for _, a := range x.addrs {
			if l.lostAt[a] == nil {
				l.lostAt[a] = map[string]int{}
			}
			l.lostAt[a][x.node] += n
			for i := range l.networks {
				l.dirty[l.wireOf(l.networks[i].Key, x.node, a)] = true
			}
		}
	}
	count(l.lost[c.Key], -1)
	delete(l.lost, c.Key)
	if c.Row == nil {
		return
	}
	x := lostTo{node: l.cell(c, "to")}
	for _, text := range strings.Fields(l.cell(c, "addresses")) {
		if a, err := netip.ParseAddr(text); err == nil {
			x.addrs = append(x.addrs, a)
		}
	}
	l.lost[c.Key] = x
	count(x, 1)
}

// judge closes and opens the spans of an address as it is after a frame.
func (l *histories) judge(w wire, f recording.Frame) {
	a := l.addr[w]
	if a == nil {
		return
	}
	now := l.bands(w, a)
	for b, s := range a.open {
		if !now[b] {
			s.To, s.Until = f.Step, f.At
			a.spans = append(a.spans, s)
			delete(a.open, b)
		}
	}
	for b := range now {
		if _, was := a.open[b]; !was {
			a.open[b] = Span{Kind: b.kind, From: f.Step, Since: f.At, Pod: b.who, Node: b.node}
		}
	}
}

// bands are what is so of an address now.
func (l *histories) bands(w wire, a *history) map[band]bool {
	out := map[band]bool{}
	var up []*holder // those that answer to it, by the manager's leave
	for _, h := range a.sandboxes {
		out[band{Live, h.container, who(h), h.node}] = true
		if h.kind != "static" && !l.calls[h.container].del && (h.kind != "tunnel" || l.registered[h.node]) {
			up = append(up, h)
		}
	}
	for _, h := range a.claims {
		out[band{Claimed, h.container, who(h), h.node}] = true
		if !l.owned(a, h) {
			out[band{Leaked, h.container, who(h), h.node}] = true
		}
	}
	slices.SortFunc(up, func(x, y *holder) int {
		return cmp.Or(cmp.Compare(who(x), who(y)), cmp.Compare(x.container, y.container))
	})
	names, nodes := make([]string, len(up)), make([]string, len(up))
	for i, h := range up {
		names[i], nodes[i] = who(h), h.node
		if model.NetworkByKey(l.networks, w.network) != nil && !backed(a, h) {
			out[band{Unbacked, h.container, who(h), h.node}] = true
		}
		if l.lostAt[w.addr][h.node] > 0 {
			out[band{Blackholed, h.container, who(h), h.node}] = true
		}
	}
	if len(up) > 1 {
		out[band{Duplicate, "", strings.Join(names, ", "), strings.Join(slices.Compact(slices.Sorted(slices.Values(nodes))), ", ")}] = true
	}
	return out
}

func who(h *holder) string {
	if h.kind == "tunnel" {
		return "tunnel of " + h.node
	}
	return h.pod
}

// backed reports whether a claim of the address is for a sandbox, or its pod.
func backed(a *history, h *holder) bool {
	for _, c := range a.claims {
		if c.container == h.container || c.pod == h.pod && h.pod != "" {
			return true
		}
	}
	return false
}

// owned reports whether a claim has a live owner. A claim made by hand names none and counts as
// owned.
func (l *histories) owned(a *history, c *holder) bool {
	_, calling := l.calls[c.container]
	if c.container == "" && c.pod == "" || l.live[c.container] > 0 || calling || l.calling[c.pod] > 0 {
		return true
	}
	if c.kind == "tunnel" {
		return l.registered[c.node]
	}
	for _, s := range a.sandboxes {
		if s.pod == c.pod {
			return true
		}
	}
	return false
}

// held closes what is still open and sorts.
func (l *histories) held(r *reports.Report) []Held {
	out := make([]Held, 0, len(l.addr))
	for _, w := range slices.SortedFunc(maps.Keys(l.addr), func(x, y wire) int {
		return cmp.Or(cmp.Compare(x.network, y.network), x.addr.Compare(y.addr))
	}) {
		spans := l.addr[w].spans
		for _, s := range l.addr[w].open {
			s.Until = r.Virtual
			spans = append(spans, s)
		}
		spans = slices.DeleteFunc(spans, func(s Span) bool { return s.Kind == Blackholed && s.Until-s.Since <= r.BlackholeAfter })
		slices.SortFunc(spans, func(x, y Span) int {
			return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Pod, y.Pod), cmp.Compare(x.Node, y.Node), cmp.Compare(x.To, y.To))
		})
		out = append(out, Held{Network: w.network, Addr: w.addr.String(), Spans: spans})
	}
	return out
}
