package route

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/route/fib"
)

// Plane is the forwarding plane of a cluster over time: it receives facts when they change and
// applies them as late as real daemons do (timing.go).
//
// It is incremental: the cost of a fact depends on what it changes, not on the size of the
// cluster.
type Plane struct {
	fabric   Fabric
	now      time.Duration
	t        *fib.Tables
	speakers []*speaker // by place; nil for a router that speaks no BGP
	sessions map[[2]int]*session

	// What daemons know now.
	pools   []model.IPPool
	shares  map[netip.Prefix]share
	origins map[netip.Prefix][]origin
	ribs    map[netip.Prefix]ribs
	linked  []kept                   // routes that need no daemon, by place
	felix   []kept                   // routes of Felix, by place
	devs    map[local]string         // addresses that nodes deliver, with the device
	held    map[local]map[string]int // how many pods have the address, by device

	// The latest observed facts.
	facts      Facts
	affinities map[string][]model.Affinity // by node, without pending ones

	later    []event // sorted by time, then order of arrival
	deadline time.Duration
	timed    bool // deadline is set

	// What must be done again before the tables are right.
	touched map[netip.Prefix]bool // kernel routes, everywhere
	here    map[hereKey]bool      // kernel routes, in one place
	moved   map[netip.Prefix]bool // BGP paths
	rewired bool                  // nodes, daemons or sessions changed
	reread  bool                  // nodes changed: affinities are read again
	recount bool                  // and so do pods
	stale   map[netip.Prefix]bool // destinations to walk to again
	losses  losses

	changed map[hereKey]bool // routes changed since the last Watch.Changes; nil: no watch
}

// local is an address on a node.
type local struct {
	at   int
	addr netip.Addr
}

type hereKey struct {
	at  int
	dst netip.Prefix
}

// event is a change that a daemon will know of later.
type event struct {
	at time.Duration
	do func()
}

// New is the plane of a cluster without any node. The fabric must have passed
// Check.
func New(f Fabric) *Plane {
	return &Plane{
		fabric: f, t: fib.NewTables(nil), sessions: map[[2]int]*session{},
		shares: map[netip.Prefix]share{}, origins: map[netip.Prefix][]origin{}, ribs: map[netip.Prefix]ribs{},
		devs: map[local]string{}, held: map[local]map[string]int{}, affinities: map[string][]model.Affinity{},
		touched: map[netip.Prefix]bool{}, here: map[hereKey]bool{}, moved: map[netip.Prefix]bool{}, stale: map[netip.Prefix]bool{},
		losses: losses{pairs: map[netip.Addr]map[int]Loss{}, dests: map[netip.Addr][]int{}},
	}
}

// Converge are the tables that facts lead to once all daemons had their time.
func Converge(f Fabric, facts Facts) *fib.Tables {
	p := New(f)
	p.Observe(0, facts)
	Settle(p)
	return p.Tables()
}

// Settle lets routes change by themselves, of a Plane or a Network, until they stay as
// they are.
func Settle(r interface {
	Next() (time.Duration, bool)
	Advance(time.Duration)
}) {
	for at, ok := r.Next(); ok; at, ok = r.Next() {
		r.Advance(at)
	}
}

// Observe sets the current facts. The time must not decrease. The caller may reuse the facts
// when Observe returns, but must not change the slices inside their elements.
func (p *Plane) Observe(at time.Duration, f Facts) {
	p.Advance(at)
	p.observeNodes(f.Nodes)
	p.observeDown(f.Down)
	p.observePools(f.Pools)
	p.observeAffinities(f.Affinities)
	p.observeBlocks(f.Blocks)
	p.observeLocals(f.Local)
	if p.rewired {
		p.wire()
	}
	p.settle()
}

// Next is when the plane will change by itself; ok is false if it will not.
func (p *Plane) Next() (at time.Duration, ok bool) {
	if len(p.later) > 0 && (!p.timed || p.later[0].at < p.deadline) {
		return p.later[0].at, true
	}
	return p.deadline, p.timed
}

// Advance lets the plane change by itself up to and including a time.
func (p *Plane) Advance(at time.Duration) {
	for {
		next, ok := p.Next()
		if !ok || next > at {
			break
		}
		p.now = max(p.now, next)
		for len(p.later) > 0 && p.later[0].at <= p.now {
			e := p.later[0]
			p.later = p.later[1:]
			e.do()
		}
		if p.timed && p.deadline <= p.now || p.rewired {
			p.wire()
		}
		p.settle()
	}
	p.now = max(p.now, at)
}

// Tables are the routing tables now, until the next Observe or Advance.
func (p *Plane) Tables() *fib.Tables { return p.t }

// after does something when a daemon will know of it.
func (p *Plane) after(d time.Duration, do func()) {
	e := event{p.now + d, do}
	i, _ := slices.BinarySearchFunc(p.later, e.at, func(x event, at time.Duration) int {
		if x.at <= at {
			return -1
		}
		return 1
	})
	p.later = slices.Insert(p.later, i, e)
}

// settle brings paths, tables and losses up to date.
func (p *Plane) settle() {
	for _, dst := range sortedPrefixes(p.moved) {
		after := p.propagate(dst, p.ribs[dst])
		if len(after) == 0 {
			delete(p.ribs, dst)
		} else {
			p.ribs[dst] = after
		}
		p.touched[dst] = true
	}
	clear(p.moved)
	for _, dst := range sortedPrefixes(p.touched) {
		for i := range p.t.Forwarders {
			p.put(i, dst)
		}
	}
	clear(p.touched)
	for k := range p.here {
		p.put(k.at, k.dst) // in any order: places and prefixes do not depend on each other
	}
	clear(p.here)
	p.judge()
}

func (p *Plane) put(i int, dst netip.Prefix) {
	r := p.route(i, dst)
	if r != nil && dst.Addr().Is6() {
		r.InSix()
	}
	if p.t.Set(i, dst, r) {
		p.stale[dst] = true
		if p.changed != nil {
			p.changed[hereKey{i, dst}] = true
		}
	}
}

func sortedPrefixes(m map[netip.Prefix]bool) []netip.Prefix {
	return slices.SortedFunc(maps.Keys(m), comparePrefix)
}
