package route_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/model/route"
	"ipamsim/model/route/fib"
)

// film is a plane whose facts change, and the history of one node's table.
type film struct {
	*testing.T
	plane *route.Plane
	facts route.Facts
	now   time.Duration
}

// filmed is a plane of the facts, started at 0 and watched from ten minutes on,
// when all is calm.
func filmed(t *testing.T, f route.Fabric, facts route.Facts) *film {
	m := &film{T: t, plane: route.New(f), facts: facts}
	m.plane.Observe(0, facts)
	m.at(10 * time.Minute)
	return m
}

func (m *film) at(now time.Duration) *film {
	m.now = now
	m.plane.Advance(now)
	return m
}

func (m *film) change(do func(*route.Facts)) *film {
	m.facts.Nodes, m.facts.Local = slices.Clone(m.facts.Nodes), slices.Clone(m.facts.Local)
	m.facts.Affinities, m.facts.Pools = slices.Clone(m.facts.Affinities), slices.Clone(m.facts.Pools)
	do(&m.facts)
	m.plane.Observe(m.now, m.facts)
	return m
}

func (m *film) has(node, line string) bool {
	table, ok := m.plane.Tables().Of(node)
	return ok && slices.Contains(strings.Split(table.String(), "\n"), line)
}

// until is how long after now a line stays in a node's table as it is (there or
// not), by the plane's own account of when it changes.
func (m *film) until(node, line string) time.Duration {
	m.Helper()
	start, was := m.now, m.has(node, line)
	for range 1000 {
		next, ok := m.plane.Next()
		if !ok {
			m.Fatalf("%s: %q stays %t for ever\n%s", node, line, was, dump(m.plane.Tables()))
		}
		if m.at(next); m.has(node, line) != was {
			return m.now - start
		}
	}
	m.Fatal("the plane does not come to rest")
	return 0
}

const (
	host   = "10.64.75.0 via 10.64.0.12 dev eth0 proto bird" // bw, seen from a and c
	hole   = "blackhole 10.64.75.0/26 proto bird"
	blockA = "10.64.75.0/26 via 10.64.0.11 dev eth0 proto bird"
)

func noDefault() route.Fabric { return route.Fabric{NoDefaultRoute: []string{"*"}} }

func withoutBorrowed(f *route.Facts) {
	f.Local = slices.DeleteFunc(f.Local, func(l route.Local) bool { return l.Addr == ip("10.64.75.0") })
}

// TestTimings is cmd/calico/lab's second table.
func TestTimings(t *testing.T) {
	bird := func(node int, runs bool) func(*route.Facts) {
		return func(f *route.Facts) { f.Nodes[node].BIRD = runs }
	}
	power := func(node int, on bool) func(*route.Facts) {
		return func(f *route.Facts) {
			n := &f.Nodes[node]
			n.Up, n.BIRD, n.Felix = on, on, on
			if !on {
				f.Local = slices.DeleteFunc(f.Local, func(l route.Local) bool { return l.Node == n.Name })
			}
		}
	}
	for _, row := range []struct {
		event string
		film  func(*film) *film
		node  string
		line  string
		want  time.Duration
	}{
		{"borrowed /32 added at B → in A's kernel table", func(m *film) *film {
			return m.change(withoutBorrowed).at(11 * time.Minute).change(func(f *route.Facts) { f.Local = append(f.Local, pod("b", "10.64.75.0")) })
		}, "a", host, route.Announce},
		{"pod's veth deleted → withdrawn at A", func(m *film) *film { return m.change(withoutBorrowed) }, "a", host, route.VethGone},
		{"an affinity goes to pendingDeletion and is gone", func(m *film) *film {
			return m.change(func(f *route.Facts) { f.Affinities = f.Affinities[1:] })
		}, "a", hole, route.Reload},
		{"owner reboots: the blackhole", func(m *film) *film { return m.change(power(0, false)).at(11 * time.Minute).change(power(0, true)) },
			"a", hole, route.Establish},
		{"owner reboots: the /32", func(m *film) *film { return m.change(power(0, false)).at(11 * time.Minute).change(power(0, true)) },
			"a", host, route.Establish},
		{"same with one peer dead: nothing programmed", func(m *film) *film {
			return m.change(power(0, false)).change(power(2, false)).at(20 * time.Minute).change(power(0, true))
		}, "a", hole, route.Recovery},
		{"borrower's BIRD killed: peers keep the /32", func(m *film) *film { return m.change(bird(1, false)) }, "a", host, route.Graceful},
		{"borrower's node without power: /32 gone after the hold timer", func(m *film) *film { return m.change(power(1, false)) }, "c", host, route.Hold},
		{"the dead peer comes back: the wait ends early", func(m *film) *film {
			return m.change(power(0, false)).change(power(2, false)).at(20 * time.Minute).change(power(0, true)).at(21 * time.Minute).change(power(2, true))
		}, "a", hole, route.Establish},
	} {
		t.Run(row.event, func(t *testing.T) {
			m := row.film(filmed(t, noDefault(), labFacts()))
			if got := m.until(row.node, row.line); got != row.want {
				t.Errorf("%s at %s after %v, cmd/calico/lab has %v\n%s", row.line, row.node, got, row.want, dump(m.plane.Tables()))
			}
		})
	}
}

// A cold start takes two seconds, and until then no node has a route of BIRD.
func TestColdStart(t *testing.T) {
	p := route.New(noDefault())
	p.Observe(0, labFacts())
	p.Advance(route.Establish - 1)
	if s := dump(p.Tables()); strings.Contains(s, "bird") {
		t.Errorf("routes before any session is established:\n%s", s)
	}
	if len(p.Losses()) == 0 {
		t.Error("nobody is told of the other pods yet, and nothing is lost")
	}
	p.Advance(route.Establish)
	if l := p.Losses(); len(l) != 0 {
		t.Errorf("after the start: %+v", l)
	}
	if at, ok := p.Next(); ok {
		t.Errorf("all is calm, but something will change at %v", at)
	}
}

// B's BIRD is killed. For 122 s this has no effect, because B's kernel forwards; then A falls
// back on its blackhole, although B still has the pod.
func TestKilledBIRDBlackholesAfterGracefulRestart(t *testing.T) {
	m := filmed(t, noDefault(), labFacts()).change(func(f *route.Facts) { f.Nodes[1].BIRD = false })
	m.at(10*time.Minute + route.Graceful - 1)
	if l := m.plane.Losses(); len(l) != 0 {
		t.Fatalf("lost before the restart timer ran out: %+v", l)
	}
	m.at(10*time.Minute + route.Graceful)
	want := route.Loss{From: "a", To: ip("10.64.75.0"), On: "b", At: "a", How: fib.Blackholed, Route: hole, Dst: cidr("10.64.75.0/26"), Since: 10*time.Minute + route.Graceful}
	if l := m.plane.Losses(); !slices.Contains(l, want) {
		t.Errorf("want %+v\nhave %+v", want, l)
	}
	if b, _ := m.plane.Tables().Of("b"); !strings.Contains(b.String(), blockA) {
		t.Errorf("B's kernel keeps what BIRD left there; it has\n%s", b)
	}
	m.change(func(f *route.Facts) { f.Nodes[1].BIRD = true }).at(m.now + route.Establish)
	if l := m.plane.Losses(); len(l) != 0 {
		t.Errorf("still lost after BIRD is back: %+v", l)
	}
}

// A BIRD that is back within the graceful restart causes no loss.
func TestGracefulRestart(t *testing.T) {
	m := filmed(t, noDefault(), labFacts()).change(func(f *route.Facts) { f.Nodes[1].BIRD = false })
	before := dump(m.plane.Tables())
	m.at(m.now + time.Minute).change(func(f *route.Facts) { f.Nodes[1].BIRD = true })
	for at, ok := m.plane.Next(); ok; at, ok = m.plane.Next() {
		m.at(at)
		if l := m.plane.Losses(); len(l) != 0 {
			t.Fatalf("at %v: %+v", at, l)
		}
	}
	if after := dump(m.plane.Tables()); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// A session that is lost, and comes back: A alone loses the borrowed address.
func TestLostSession(t *testing.T) {
	m := filmed(t, noDefault(), labFacts()).change(func(f *route.Facts) { f.Down = []route.Session{{A: "b", B: "a"}} })
	for _, l := range m.plane.Losses() {
		if l.From == "c" || l.To == ip("10.64.77.5") {
			t.Errorf("a third node is affected: %+v", l)
		}
	}
	if l := m.plane.Losses(); len(l) != 3 { // a→bw, a→b1, b→a1
		t.Errorf("want three pairs, have %+v", l)
	}
	m.at(11 * time.Minute).change(func(f *route.Facts) { f.Down = nil })
	if l := m.plane.Losses(); len(l) != 0 {
		t.Errorf("still lost: %+v", l)
	}
}

// Since is when the pair was lost, not when its cause last changed.
func TestSinceStays(t *testing.T) {
	m := filmed(t, noDefault(), labFacts()).change(func(f *route.Facts) { f.Down = []route.Session{{A: "a", B: "b"}} })
	m.at(12 * time.Minute).change(func(f *route.Facts) { f.Affinities = f.Affinities[1:] }).at(13 * time.Minute)
	i := slices.IndexFunc(m.plane.Losses(), func(l route.Loss) bool { return l.From == "a" && l.To == ip("10.64.75.0") })
	if i < 0 {
		t.Fatalf("a→bw is not lost: %+v", m.plane.Losses())
	}
	if l := m.plane.Losses()[i]; l.How != fib.Unreachable || l.Since != 10*time.Minute {
		t.Errorf("want unreachable since 10m, have %+v", l)
	}
}

// A pod moves from one borrower to another within the 3.5 s that its old route
// is still announced: both ways are as good, and half of the flows go to a node
// that does not have it any more.
func TestMovedBorrowedAddress(t *testing.T) {
	facts := labFacts()
	m := filmed(t, route.Fabric{}, facts).change(withoutBorrowed)
	m.at(m.now + time.Second).change(func(f *route.Facts) { f.Local = append(f.Local, pod("c", "10.64.75.0")) }).at(m.now + time.Second)
	a, _ := m.plane.Tables().Of("a")
	want := "10.64.75.0 proto bird\n\tnexthop via 10.64.0.12 dev eth0 weight 1\n\tnexthop via 10.64.0.13 dev eth0 weight 1\n"
	if !strings.Contains(a.String(), want) {
		t.Fatalf("A's table\n%swant\n%s", a, want)
	}
	m.at(m.now + route.VethGone)
	if l := m.plane.Losses(); len(l) != 0 {
		t.Errorf("still lost: %+v", l)
	}
}

// A node that leaves the cluster and comes back gets its routes again.
func TestNodeLeavesAndReturns(t *testing.T) {
	m := filmed(t, noDefault(), labFacts())
	before, all := dump(m.plane.Tables()), m.facts
	m.change(func(f *route.Facts) { *f = ownerGone(*f) }).at(11 * time.Minute)
	if _, ok := m.plane.Tables().Of("a"); ok {
		t.Error("a node that is gone has a table")
	}
	if m.has("b", blockA) {
		t.Error("B keeps the block of a node that is gone")
	}
	m.facts = all
	m.change(func(*route.Facts) {}).at(12 * time.Minute)
	if after := dump(m.plane.Tables()); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// A node is not part of the network before it has an address: no peer waits for it or peers
// with it.
func TestNodeWithoutAddress(t *testing.T) {
	f := labFacts()
	f.Nodes = append(f.Nodes, route.Node{Name: "new", Up: true, BIRD: true, Felix: true})
	p := route.New(noDefault())
	p.Observe(0, f)
	p.Advance(route.Establish)
	if l := p.Losses(); len(l) != 0 {
		t.Errorf("lost: %+v", l)
	}
	if _, ok := p.Tables().Of("new"); ok {
		t.Error("it has a table")
	}
	f.Nodes = slices.Clone(f.Nodes)
	f.Nodes[3].Addr = cidr("10.64.0.14/24")
	p.Observe(time.Minute, f)
	p.Advance(time.Minute + route.Establish)
	if table, _ := p.Tables().Of("new"); !strings.Contains(table.String(), blockA) {
		t.Errorf("after it got one:\n%s", table)
	}
}

// Other events during a graceful restart do not end it early.
func TestGracefulRestartOutlivesOtherNews(t *testing.T) {
	m := filmed(t, noDefault(), labFacts()).change(func(f *route.Facts) { f.Nodes[1].BIRD = false })
	m.at(m.now + time.Minute).change(func(f *route.Facts) { f.Down = []route.Session{{A: "a", B: "c"}} })
	if !m.has("a", host) {
		t.Error("A forgot B's route after a minute")
	}
	m.at(10*time.Minute + route.Graceful)
	if m.has("a", host) {
		t.Error("A still has B's route after the graceful restart")
	}
}

// A session that cannot be established delays both of its ends, as a dead peer does.
func TestColdStartWithLostSession(t *testing.T) {
	f := noDefault()
	f.Down = []route.Session{{A: "a", B: "b"}}
	p := route.New(f)
	p.Observe(0, labFacts())
	p.Advance(route.Recovery - 1)
	if s := dump(p.Tables()); strings.Contains(s, blockA) {
		t.Errorf("A announces before it gave up waiting:\n%s", s)
	}
	p.Advance(route.Recovery)
	if c, _ := p.Tables().Of("c"); !strings.Contains(c.String(), blockA) || !strings.Contains(c.String(), host) {
		t.Errorf("C after the wait:\n%s", c)
	}
}

// A node without power loses nothing, and nothing on it is lost.
func TestNoPowerNoLoss(t *testing.T) {
	m := filmed(t, noDefault(), labFacts()).change(func(f *route.Facts) {
		f.Nodes[2].Up, f.Nodes[2].BIRD, f.Nodes[2].Felix = false, false, false
		f.Down = []route.Session{{A: "a", B: "b"}}
	})
	if len(m.plane.Losses()) != 3 {
		t.Errorf("a and b have lost their session: %+v", m.plane.Losses())
	}
	for _, l := range m.plane.Losses() {
		if l.From == "c" || l.On == "c" || l.To == ip("10.64.77.5") {
			t.Errorf("%+v", l)
		}
	}
}

// A Felix that does not run leaves VXLAN routes as they were; when it starts, it
// catches up.
func TestFelixDown(t *testing.T) {
	f := labFacts()
	f.Pools[0].VXLAN = "Always"
	for i := range f.Nodes {
		f.Nodes[i].Tunnel = ip("10.64.79.1")
		for range i {
			f.Nodes[i].Tunnel = f.Nodes[i].Tunnel.Next()
		}
	}
	f.Blocks = []route.Block{{Prefix: cidr(blockX), Node: "a", Borrowed: []route.Borrowed{{Addr: ip("10.64.75.0"), Node: "b"}}}}
	const line = "10.64.75.0 via 10.64.79.2 dev vxlan.calico onlink"
	m := filmed(t, noDefault(), f).change(func(f *route.Facts) { f.Nodes[2].Felix = false })
	m.change(func(f *route.Facts) { f.Blocks = []route.Block{{Prefix: cidr(blockX), Node: "a"}} })
	if !m.has("c", line) || m.has("a", line) {
		t.Errorf("c should keep the route, a should not:\n%s", dump(m.plane.Tables()))
	}
	if m.change(func(f *route.Facts) { f.Nodes[2].Felix = true }); m.has("c", line) {
		t.Errorf("c keeps the route although its Felix runs again:\n%s", dump(m.plane.Tables()))
	}
}

// Without default routes, nodes of two subnets have no session: each subnet is a separate mesh,
// after all nodes have stopped waiting for the others. Observed in the lab: "Socket: Network is
// unreachable", and no route of BIRD anywhere.
func TestNoSessionWithoutAWay(t *testing.T) {
	f := twoRacks(labFacts())
	p := route.New(noDefault())
	p.Observe(0, f)
	p.Advance(route.Recovery - 1)
	if s := dump(p.Tables()); strings.Contains(s, "bird") {
		t.Errorf("programmed before anybody gave up:\n%s", s)
	}
	p.Advance(route.Recovery)
	for pair, want := range map[string]string{"c→a1": "ok", "e→b1": "ok", "c→b1": "unreachable at c", "a→bw": "lost at a"} {
		from, to, _ := strings.Cut(pair, "→")
		if got := ping(p.Tables(), from, to); got != want {
			t.Errorf("%s: %s, want %s", pair, got, want)
		}
	}
}
