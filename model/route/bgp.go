package route

import (
	"cmp"
	"net/netip"
	"slices"
)

// source is the source of a route that a speaker originates.
type source uint8

const (
	fromStatic source = iota // the blackhole of a block
	fromKernel               // a pod's route, which BIRD learns
	fromDirect               // the address of the tunnel device
)

// preference between protocols. BGP has 100.
// Source: BIRD 1.6, nest/protocol.h, DEF_PREF_*.
var preference = [...]int{fromStatic: 200, fromKernel: 10, fromDirect: 240}

const preferenceBGP = 100

// origin is a route of a speaker's own.
type origin struct {
	at     int
	source source
}

// path is one way to a prefix that a speaker knows.
type path struct {
	session *session // that brought it; nil: its own
	from    *speaker // the other end of the session
	source  source
	origin  *speaker   // the speaker that originated it
	hop     netip.Addr // next hop
	as      []uint32   // AS path
	cluster bool       // a reflector passed it on
	metric  int        // to the next hop: 0 on the own subnet, 1 beyond
	via     netip.Addr // the neighbour that leads to the next hop; invalid: none does
}

func (p *path) own() bool      { return p.session == nil }
func (p *path) internal() bool { return p.session.internal() }

func (p *path) preference() int {
	if p.own() {
		return preference[p.source]
	}
	return preferenceBGP
}

func (p *path) equal(o *path) bool {
	return p.session == o.session && p.source == o.source && p.origin == o.origin && p.hop == o.hop && p.via == o.via &&
		p.cluster == o.cluster && slices.Equal(p.as, o.as)
}

// better orders the paths to one prefix, the best first.
//
// Source: BIRD 1.6, nest/rt-table.c (rte_better) and proto/bgp/attrs.c
// (bgp_rte_better). Local preference, origin and MED are the same everywhere here.
func better(a, b *path) int {
	if c := cmp.Compare(b.preference(), a.preference()); c != 0 || a.own() || b.own() {
		return c
	}
	if c := a.alike(b); c != 0 {
		return c
	}
	return cmp.Or(
		a.routerID().Compare(b.routerID()),
		cmp.Compare(btoi(a.cluster), btoi(b.cluster)),
		a.from.addr.Addr().Compare(b.from.addr.Addr()),
		a.hop.Compare(b.hop),
	)
}

// alike is the part of the order within which paths are merged into one route
// with several next hops: 0 says that they are.
// Source: BIRD 1.6, proto/bgp/attrs.c, bgp_rte_mergable.
func (p *path) alike(o *path) int {
	return cmp.Or(
		cmp.Compare(btoi(!p.via.IsValid()), btoi(!o.via.IsValid())),
		cmp.Compare(len(p.as), len(o.as)),
		cmp.Compare(btoi(p.internal()), btoi(o.internal())),
		cmp.Compare(p.metric, o.metric),
	)
}

// routerID is the originator's for a path that was reflected, else the peer's.
func (p *path) routerID() netip.Addr {
	if p.cluster {
		return p.origin.id
	}
	return p.from.id
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ribs are the paths of one prefix, by speaker, each sorted with the best first.
type ribs map[int][]path

// propagate computes the paths of every speaker to dst, from the speakers that originate it and
// from the paths before: a daemon that does not run keeps its paths, and a frozen session keeps the
// paths that it delivered.
func (p *Plane) propagate(dst netip.Prefix, before ribs) ribs {
	after := ribs{}
	var queue []*speaker
	for _, s := range p.speakers {
		if s == nil || !s.present {
			continue
		}
		var keep []path
		for _, q := range before[s.at] {
			if !s.ready || !q.own() && q.session.state == frozen {
				keep = append(keep, q)
			}
		}
		if s.ready {
			keep = append(keep, p.originated(s, dst)...)
		}
		if len(keep) > 0 {
			slices.SortStableFunc(keep, func(a, b path) int { return better(&a, &b) })
			after[s.at] = keep
			if s.ready {
				queue = append(queue, s)
			}
		}
	}
	for spent := 0; len(queue) > 0 && spent < 100*len(p.speakers)+1000; spent++ {
		u := queue[0]
		queue = queue[1:]
		for _, e := range u.edges {
			if e.s.state != open || !u.transit && !slices.ContainsFunc(after[u.at], func(q path) bool { return q.own() }) && !heard(after[e.to.at], e.s) {
				continue
			}
			if p.deliver(after, u, e, dst) && e.to.transit && !slices.Contains(queue, e.to) {
				queue = append(queue, e.to)
			}
		}
	}
	return after
}

// heard reports whether any of the paths was received over the session.
func heard(paths []path, s *session) bool {
	return slices.ContainsFunc(paths, func(q path) bool { return q.session == s })
}

// originated are the paths that a speaker originates.
func (p *Plane) originated(s *speaker, dst netip.Prefix) []path {
	var out []path
	for _, o := range p.origins[dst] {
		if o.at == s.at {
			out = append(out, path{source: o.source, origin: s})
		}
	}
	return out
}

// deliver sends u's current announcement of dst to the other end of an edge, and reports
// whether that changed what the other end knows.
func (p *Plane) deliver(now ribs, u *speaker, e edge, dst netip.Prefix) bool {
	v := e.to
	old := now[v.at]
	var next []path
	for i := range old {
		if old[i].session != e.s {
			next = append(next, old[i])
		}
	}
	for i := range now[u.at] {
		q := &now[u.at][i]
		if sent, ok := p.send(u, e, q, dst); ok {
			next = append(next, sent)
		}
		if !e.s.addPath() {
			break // only the best
		}
	}
	slices.SortStableFunc(next, func(a, b path) int { return better(&a, &b) })
	if slices.EqualFunc(old, next, func(a, b path) bool { return a.equal(&b) }) {
		return false
	}
	now[v.at] = next
	return true
}

// send is what becomes of a path of u's on its way over a session to v; ok is
// false if u does not export it or v does not import it.
//
// Source: BIRD 1.6, proto/bgp/attrs.c: bgp_import_control and bgp_update_attrs on
// the sending side, bgp_decode_attrs on the receiving one.
func (p *Plane) send(u *speaker, e edge, q *path, dst netip.Prefix) (path, bool) {
	v, s := e.to, e.s
	if q.session == s || !q.own() && q.internal() && s.internal() && !q.session.client(u) && !s.client(u) {
		return path{}, false
	}
	// A reflector does not accept a path back from a client, nor give it to one, if the path
	// came through its cluster. BIRD 1.6 does not check this between reflectors: each may
	// learn from the other what a client could not announce to it (bgp_cluster_list_loopy
	// requires rr_client).
	if q.cluster && s.internal() && (s.client(u) || s.client(v)) || s.internal() && q.origin == v {
		return path{}, false
	}
	if !p.exports(u, v, dst) || !p.imports(u, v, dst) {
		return path{}, false
	}
	out := path{session: s, from: u, origin: q.origin, hop: q.hop, as: q.as, cluster: q.cluster}
	reflected := !q.own() && q.internal() && s.internal()
	if reflected {
		out.cluster = true
	} else if !s.internal() {
		out.cluster = false
		if t := p.fabric.TopOfRack; t.ASOverride && !u.node && v.node {
			out.as = slices.DeleteFunc(slices.Clone(out.as), func(as uint32) bool { return as == v.as })
		}
		out.as = append([]uint32{u.as}, out.as...)
	}
	// Inside one AS the next hop is unchanged. A router also keeps it if v is on the next hop's
	// subnet. A node does not: its sessions with others are multihop, and in a mesh next to the
	// router it offers to forward the routes that it learned. Source: bird.cfg.template,
	// "multihop"; measured in cmd/calico/lab, topologies 4m, 5e.
	//
	// In IPv6 a router sends its own address: a next hop on the same link needs its link-local
	// address, which a node's multihop session does not announce (BIRD 1.6,
	// bgp_create_mp_reach; the lab's topologies in IPv6).
	if q.own() || !s.internal() && (u.node || q.hop.Is6() || !v.addr.Contains(q.hop)) {
		out.hop = u.addr.Addr()
	}
	loops := 0
	for _, as := range out.as {
		if as == v.as {
			loops++
		}
	}
	if allowed := p.fabric.TopOfRack.AllowLocalAS; loops > 0 && (!v.node || loops > allowed) || out.hop == v.addr.Addr() {
		return path{}, false
	}
	p.resolve(v, &out)
	return out, true
}

// resolve finds the neighbour that leads to a path's next hop. Nodes look it up
// in their table; a router takes the peer itself.
func (p *Plane) resolve(v *speaker, q *path) {
	switch {
	case v.addr.Contains(q.hop):
		q.via, q.metric = q.hop, 0
	case !v.node:
		q.via, q.metric = q.from.addr.Addr(), 0
	case !v.noDefault:
		q.via, q.metric = p.gateway(v), 1
	default:
		q.metric = 1
	}
}

// exports is the sender's filter.
func (p *Plane) exports(u, v *speaker, dst netip.Prefix) bool {
	if u.node {
		return Exports(p.pools, u.own, dst)
	}
	t := p.fabric.TopOfRack
	if v.node {
		return !t.DefaultOnly
	}
	return !t.MaxLengthBetween || t.takes(dst)
}

// takes reports whether the prefix is short enough for a router.
func (t *TopOfRack) takes(dst netip.Prefix) bool {
	most := t.MaxLength
	if dst.Addr().Is6() {
		most = t.MaxLength6
	}
	return most == 0 || dst.Bits() <= most
}

// imports is the receiver's filter.
func (p *Plane) imports(u, v *speaker, dst netip.Prefix) bool {
	t := p.fabric.TopOfRack
	return v.node || !u.node || t.MaxLengthBetween || t.takes(dst)
}
