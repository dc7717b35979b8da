package route

import (
	"net/netip"
	"slices"
	"time"
)

// wire updates daemons and sessions to the state of the machines and the time: which daemons run
// and are ready, which sessions are open, frozen or closed. A change here may change every path.
func (p *Plane) wire() {
	p.rewired, p.timed, p.deadline = false, false, 0
	p.pairUp()
	for _, s := range p.speakers {
		if s != nil && s.node {
			p.ready(s)
		}
	}
	for _, s := range p.sorted() {
		p.transit(s)
	}
	for dst := range p.origins {
		if p.matters(dst) {
			p.moved[dst] = true
		}
	}
	for dst := range p.ribs {
		if p.matters(dst) {
			p.moved[dst] = true
		}
	}
}

// matters reports whether any other speaker receives dst, or has received it: nearly all pods
// lie in their node's own block and change only that node's table.
func (p *Plane) matters(dst netip.Prefix) bool {
	if !dst.IsSingleIP() {
		return true
	}
	for _, o := range p.origins[dst] {
		if s := p.speakers[o.at]; Exports(p.pools, s.own, dst) {
			return true
		}
	}
	for _, paths := range p.ribs[dst] {
		if slices.ContainsFunc(paths, func(q path) bool { return !q.own() }) {
			return true
		}
	}
	return false
}

// until records that something will change by itself.
func (p *Plane) until(at time.Duration) {
	if !p.timed || at < p.deadline {
		p.timed, p.deadline = true, at
	}
}

// pairUp decides which speakers have a session with each other.
func (p *Plane) pairUp() {
	for _, s := range p.speakers {
		if s != nil {
			s.edges, s.transit = nil, s.reflect || !s.node
		}
	}
	for _, s := range p.sessions {
		s.configured = false
	}
	for i, a := range p.speakers {
		for _, b := range p.speakers[i+1:] {
			if a == nil || b == nil || !a.present || !b.present || !p.fabric.wanted(a, b) {
				continue
			}
			key := [2]int{a.at, b.at}
			s := p.sessions[key]
			if s == nil {
				s = &session{a: a, b: b}
				p.sessions[key] = s
			}
			s.configured = true
			a.edges, b.edges = append(a.edges, edge{b, s}), append(b.edges, edge{a, s})
			if !s.internal() {
				a.transit, b.transit = true, true
			}
		}
	}
}

// ready decides whether a node's BIRD has started to work: soon, if all of its
// peers are there; else only when it has given up waiting for them.
//
// Left out: to peers that start at the same time a waiting BIRD announces its
// routes already, though it has put none into its own kernel. In a mesh they all
// wait for the same dead peer, and it makes no difference.
func (p *Plane) ready(s *speaker) {
	if !s.present || !s.up || !s.bird {
		s.ready = false
		return
	}
	if s.ready {
		return
	}
	s.readyAt = s.started + Establish
	for _, e := range s.edges {
		if !e.to.up || !e.to.bird || p.isDown(e.s) {
			s.readyAt = s.started + Recovery
			break
		}
		s.readyAt = max(s.readyAt, min(e.to.started+Establish, s.started+Recovery))
	}
	if p.now >= s.readyAt {
		s.ready = true
		p.configure(s)
		return
	}
	p.until(s.readyAt)
}

// isDown reports whether a session cannot be: it was taken down, or one end has
// no way to the other's subnet.
func (p *Plane) isDown(s *session) bool {
	for _, v := range []*speaker{s.a, s.b} {
		if v.node && v.noDefault && !(v.addr.Contains(s.a.addr.Addr()) && v.addr.Contains(s.b.addr.Addr())) {
			return true
		}
	}
	a, b := p.t.Forwarders[s.a.at].Name, p.t.Forwarders[s.b.at].Name
	return downBetween(p.fabric.Down, a, b) || downBetween(p.facts.Down, a, b)
}

// transit moves a session to the state that its ends allow. A session whose end died silently keeps
// the paths that it delivered until a timer expires.
func (p *Plane) transit(s *session) {
	switch {
	case !s.configured || p.isDown(s):
		s.state = closed
	case s.a.ready && s.b.ready:
		s.state = open
	case s.state == open:
		s.state, s.until = frozen, p.now+Graceful
		if !s.a.up || !s.b.up {
			s.until = p.now + Hold
		}
	case s.state == frozen && p.now >= s.until:
		s.state = closed
	}
	if s.state == frozen {
		p.until(s.until)
	}
}

// sorted are all sessions, by their ends.
func (p *Plane) sorted() []*session {
	out := make([]*session, 0, len(p.sessions))
	for _, s := range p.sessions {
		out = append(out, s)
	}
	slices.SortFunc(out, func(x, y *session) int {
		if x.a.at != y.a.at {
			return x.a.at - y.a.at
		}
		return x.b.at - y.b.at
	})
	return out
}
