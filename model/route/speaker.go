package route

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
)

// speaker is one BGP daemon: a node's BIRD, or that of a top-of-rack router. Its index is that of
// its place, and is never reused.
type speaker struct {
	at      int
	node    bool
	addr    netip.Prefix
	id      netip.Addr // its router id
	as      uint32
	reflect bool // a route reflector
	// transit reports whether it passes on routes that it learned.
	transit bool
	// BIRD's present configuration.
	blocks []netip.Prefix // with a static blackhole, sorted
	own    []netip.Prefix // confirmed, sorted
	// State of a node's machine.
	present, up, bird, felix bool
	started                  time.Duration // when BIRD last started
	ready                    bool          // BIRD has programmed its routes and talks to its peers
	readyAt                  time.Duration // when it will be, if it runs and is not
	noDefault                bool
	tunnel                   netip.Addr
	edges                    []edge
}

// edge is a session seen from one end.
type edge struct {
	to *speaker
	s  *session
}

// session is one BGP session.
type session struct {
	a, b       *speaker
	configured bool
	state      state
	until      time.Duration // Frozen: when the routes are given up
}

// state of a session.
type state uint8

const (
	closed state = iota
	open
	// frozen: the session is lost, but the routes it brought are kept, because of a graceful
	// restart or because the loss is not yet detected.
	frozen
)

func (s *session) internal() bool { return s.a.as == s.b.as }

// addPath reports whether all paths are sent, not only the best. Calico's nodes
// speak so with each other; the lab's routers do not.
// Source: confd/etc/calico/confd/templates/bird.cfg.template, "add paths on".
func (s *session) addPath() bool { return s.a.node && s.b.node }

// client reports whether u treats the other end as a client that it reflects
// routes to. All reflectors of a fabric share one cluster id.
// Source: bird.cfg.template, "rr client".
func (s *session) client(u *speaker) bool {
	other := s.a
	if other == u {
		other = s.b
	}
	return s.internal() && u.reflect && !other.reflect
}

// wanted reports whether two speakers have a session by the fabric's topology.
//
// Source: bird.cfg.template: the node-to-node mesh leaves out reflectors, which
// are reached by peers of their own.
func (f *Fabric) wanted(a, b *speaker) bool {
	switch {
	case !a.node && !b.node:
		return true // routers talk to each other
	case a.node != b.node:
		return a.addr.Masked() == b.addr.Masked()
	case f.Topology == Reflectors:
		return a.reflect || b.reflect
	}
	return f.Topology != ToR || f.TopOfRack.Mesh
}

// asOf is the AS number of the i-th node, or router.
func (f *Fabric) asOf(node bool, i int) uint32 {
	as := cmp.Or(f.AS, DefaultAS)
	if t := f.TopOfRack.ASNumbers; !node && i < len(t) {
		return t[i]
	}
	if !node {
		as = cmp.Or(f.TopOfRack.AS, 65001)
		return as + uint32(i)
	}
	if f.TopOfRack.DistinctAS {
		return as + uint32(i)
	}
	return as
}

// downBetween reports whether one of the sessions is the one between two names.
func downBetween(down []Session, a, b string) bool {
	return slices.ContainsFunc(down, func(s Session) bool {
		return s.A == a && (s.B == b || s.B == "") || s.A == b && (s.B == a || s.B == "")
	})
}

// configure sets the result of the templates for a node's affinities, none of them pending: a
// blackhole for every block, except blocks of one address; and the confirmed blocks, which it
// exports and whose inside it hides. An empty state counts as confirmed.
//
// Source: confd/etc/calico/confd/templates/bird_aggr.cfg.template.
func (s *speaker) configure(affinities []model.Affinity) {
	s.blocks, s.own = nil, nil
	for _, a := range affinities {
		if !a.Block.IsSingleIP() {
			s.blocks = append(s.blocks, a.Block.Masked())
		}
		if a.State == model.Confirmed || a.State == "" {
			s.own = append(s.own, a.Block.Masked())
		}
	}
	slices.SortFunc(s.blocks, comparePrefix)
	slices.SortFunc(s.own, comparePrefix)
}
