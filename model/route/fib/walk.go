package fib

import (
	"iter"
	"net/netip"
	"slices"

	"github.com/gaissmai/bart"
)

// Place is one forwarder of packets, for tables that come from elsewhere than
// this package: a dump of a real kernel.
type Place struct {
	Name   string
	Addrs  []netip.Addr // that it answers to itself
	Up     bool
	Routes []Route
}

// Tables are the routing tables of all nodes and routers at one instant, ready
// to be walked through.
type Tables struct {
	Forwarders []Forwarder
	at         map[string]int     // by name
	owner      map[netip.Addr]int // the place that answers on an address
	w          walker
}

// Forwarder is a place with its table.
type Forwarder struct {
	Name  string
	Up    bool
	Gone  bool // not part of the network any more
	addrs []netip.Addr
	lpm   prefixes
}

// prefixes is bart's table. An interface: a package that can reach a generic type from what it imports compiles all of the
// type's methods again (reports/BENCH.md, "Building"), and most of ours can reach a Forwarder.
type prefixes interface {
	Get(netip.Prefix) (*Route, bool)
	Lookup(netip.Addr) (*Route, bool)
	Insert(netip.Prefix, *Route)
	Delete(netip.Prefix)
	All() iter.Seq2[netip.Prefix, *Route]
	Size() int
}

// Addrs are the addresses that it answers to itself.
func (f *Forwarder) Addrs() []netip.Addr { return f.addrs }

// Routes are its routes by destination, in no order.
func (f *Forwarder) Routes() iter.Seq2[netip.Prefix, *Route] { return f.lpm.All() }

// Route is the route of a destination, nil if there is none.
func (f *Forwarder) Route(dst netip.Prefix) *Route {
	r, _ := f.lpm.Get(dst)
	return r
}

// NewTables creates tables from the routes of the places.
func NewTables(places []Place) *Tables {
	t := &Tables{at: map[string]int{}, owner: map[netip.Addr]int{}}
	for _, p := range places {
		i := t.Add(p.Name)
		t.Forwarders[i].Up = p.Up
		t.Own(i, p.Addrs)
		for j := range p.Routes {
			r := p.Routes[j]
			t.Forwarders[i].lpm.Insert(r.Dst.Masked(), &r)
		}
	}
	return t
}

// Add makes room for a place and returns its index.
func (t *Tables) Add(name string) int {
	t.at[name] = len(t.Forwarders)
	t.Forwarders = append(t.Forwarders, Forwarder{Name: name, lpm: new(bart.Table[*Route])})
	return len(t.Forwarders) - 1
}

// Find is the index of a place.
func (t *Tables) Find(name string) (i int, ok bool) {
	i, ok = t.at[name]
	return i, ok
}

// Own sets the addresses that a place answers to.
func (t *Tables) Own(i int, addrs []netip.Addr) {
	for _, a := range t.Forwarders[i].addrs {
		if t.owner[a] == i {
			delete(t.owner, a)
		}
	}
	t.Forwarders[i].addrs = addrs
	for _, a := range addrs {
		t.owner[a] = i
	}
}

// Set adds a route to a place's table, or removes the route to dst if r is nil. It reports whether
// that changed anything.
func (t *Tables) Set(i int, dst netip.Prefix, r *Route) bool {
	lpm := t.Forwarders[i].lpm
	old, ok := lpm.Get(dst)
	switch {
	case r == nil && !ok, r != nil && ok && old.equal(r):
		return false
	case r == nil:
		lpm.Delete(dst)
	default:
		lpm.Insert(dst, r)
	}
	return true
}

// Size is the number of routes in all places that are part of the network.
func (t *Tables) Size() (n int) {
	for i := range t.Forwarders {
		if !t.Forwarders[i].Gone {
			n += t.Forwarders[i].lpm.Size()
		}
	}
	return n
}

// Names of the places that exist, sorted: nodes and routers.
func (t *Tables) Names() []string {
	var out []string
	for i := range t.Forwarders {
		if !t.Forwarders[i].Gone {
			out = append(out, t.Forwarders[i].Name)
		}
	}
	slices.Sort(out)
	return out
}

// Of returns the table of a node or router; ok is false if the name is unknown. A node without
// power has an empty table.
func (t *Tables) Of(name string) (table Table, ok bool) {
	i, ok := t.at[name]
	if !ok || t.Forwarders[i].Gone {
		return Table{}, false
	}
	table.Name = name
	if !t.Forwarders[i].Up {
		return table, true
	}
	for _, r := range t.Forwarders[i].lpm.All() {
		table.Routes = append(table.Routes, *r)
	}
	slices.SortFunc(table.Routes, compareRoute)
	return table, true
}

// End is how a packet's way ends.
type End string

// The ends of a way, in the words of ip and ping.
const (
	Delivered   End = "delivered"
	Blackholed  End = "blackholed"  // a blackhole route swallows it
	Unreachable End = "unreachable" // no route matches
	Looping     End = "looping"     // it passes the same place twice
	Dead        End = "dead"        // the next hop is switched off, or no machine has its address
)

// Way is how a packet ends.
type Way struct {
	End   End
	At    string
	Route string       // that it ended by, as ip route prints it; "" if none
	Dst   netip.Prefix // of that route
}

// Walk follows a packet to an address hop by hop, from a node or router that
// sends it. Where equal ways part it follows all of them: the ends are sorted
// and distinct. It is nil for an unknown name and for a place without power.
func (t *Tables) Walk(from string, to netip.Addr) []Way {
	i, ok := t.at[from]
	if !ok || t.Forwarders[i].Gone || !t.Forwarders[i].Up {
		return nil
	}
	t.w.begin(t, to)
	return t.ways(t.w.all(i))
}

// RoundTrip follows a packet there and its answer back. The answer goes to the
// sender's address: a pod's, or the node's own. It starts on the node where the
// packet arrives; back is nil if no packet does.
func (t *Tables) RoundTrip(from string, source netip.Addr, on string, to netip.Addr) (there, back []Way) {
	there = t.Walk(from, to)
	if !slices.ContainsFunc(there, func(w Way) bool { return w.End == Delivered }) {
		return there, nil
	}
	return there, t.Walk(on, source)
}

// Arrives reports whether all, or only some, of the ways are delivered.
func Arrives(ways []Way) (all, some bool) {
	all = len(ways) > 0
	for _, w := range ways {
		all, some = all && w.End == Delivered, some || w.End == Delivered
	}
	return all, some
}

// Toward begins walks to one address from any number of places, see Lost.
func (t *Tables) Toward(to netip.Addr) { t.w.begin(t, to) }

// Lost are all ways from a place to the address of Toward, or nil if there is one and
// the packet arrives.
func (t *Tables) Lost(i int) []Way {
	ends := t.w.all(i)
	if len(ends) == 1 && ends[0].end == Delivered {
		return nil
	}
	return t.ways(ends)
}

func (t *Tables) ways(ends []end) []Way {
	out := make([]Way, len(ends))
	for i, e := range ends {
		out[i] = Way{End: e.end, At: t.Forwarders[e.at].Name}
		if e.route != nil {
			out[i].Route, out[i].Dst = e.route.String(), e.route.Dst
		}
	}
	slices.SortFunc(out, compareWay)
	return slices.Compact(out)
}

func compareWay(a, b Way) int {
	for _, c := range []int{compareString(string(a.End), string(b.End)), compareString(a.At, b.At), compareString(a.Route, b.Route)} {
		if c != 0 {
			return c
		}
	}
	return 0
}

func compareString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// end is one end of a way. Its route is nil where none was used.
type end struct {
	end   End
	at    int
	route *Route
}

// walker follows packets to one address from any number of places, and looks at
// each place only once: from everywhere the rest of the way is the same.
type walker struct {
	t     *Tables
	to    netip.Addr
	epoch int
	loops bool  // a loop was met
	seen  []int // epoch at which a place was entered
	done  []int // epoch at which its ends were known
	ends  [][]end
}

func (w *walker) begin(t *Tables, to netip.Addr) {
	w.t, w.to = t, to
	w.epoch++
	w.loops = false
	for len(w.seen) < len(t.Forwarders) {
		w.seen, w.done, w.ends = append(w.seen, 0), append(w.done, 0), append(w.ends, nil)
	}
}

// all are the ends of all ways from a place, valid until the next call.
//
// Intermediate results are cached unless there is a loop: with x → {y, pod} and y → x the cached
// result for y would be a loop, although half of the flows from y arrive.
func (w *walker) all(i int) []end {
	if w.loops {
		w.begin(w.t, w.to)
	}
	return w.from(i)
}

func (w *walker) from(i int) []end {
	if w.done[i] == w.epoch {
		return w.ends[i]
	}
	w.seen[i] = w.epoch
	w.ends[i] = w.ends[i][:0]
	w.step(i)
	w.done[i] = w.epoch
	return w.ends[i]
}

// step finds the ends from place i.
func (w *walker) step(i int) {
	p := &w.t.Forwarders[i]
	add := func(e End, r *Route) { w.ends[i] = append(w.ends[i], end{e, i, r}) }
	if slices.Contains(p.addrs, w.to) {
		add(Delivered, nil)
		return
	}
	r, ok := p.lpm.Lookup(w.to)
	switch {
	case !ok:
		add(Unreachable, nil)
	case r.Type == Refuse:
		add(Unreachable, r)
	case r.Type == Blackhole:
		add(Blackholed, r)
	case r.local():
		add(Delivered, r)
	case len(r.Via) == 0:
		w.hop(i, r, w.to)
	}
	if ok && r.Type == Unicast {
		for _, via := range r.Via {
			w.hop(i, r, via)
		}
	}
}

// hop continues at the owner of an address. A loop ends where the packet passes a place a second
// time.
func (w *walker) hop(i int, r *Route, via netip.Addr) {
	j, ok := w.t.owner[via]
	var more []end
	switch {
	case !ok || !w.t.Forwarders[j].Up || w.t.Forwarders[j].Gone:
		more = []end{{Dead, i, r}}
	case w.seen[j] == w.epoch && w.done[j] != w.epoch:
		w.loops = true
		more = []end{{Looping, i, r}}
	default:
		more = w.from(j)
	}
	for _, e := range more {
		if !slices.Contains(w.ends[i], e) {
			w.ends[i] = append(w.ends[i], e)
		}
	}
}
