package linear_test

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ipamsim/fuzz/linear"
	"ipamsim/model"
)

// chain is three networks: the first and the second share a wire, and so do the second and the
// third, but not the first and the third. The same address may be in use in these two.
var chain = []model.Network{
	{Key: "default/first", Overlap: true, Ranges: ranges("10.0.0.0/8")},
	{Key: "default/second", Overlap: true, Ranges: ranges("10.0.0.0/16")},
	{Key: "default/third", Ranges: ranges("10.0.0.0/16")},
}

func ranges(prefix string) []model.Range {
	return []model.Range{{Prefix: netip.MustParsePrefix(prefix)}}
}

// A correct set under concurrent calls: each operation takes effect at one time between its begin
// and its end. Its history is linearizable, however far begins and ends are from that time, and
// whether or not DELs succeed. Another sandbox with an address that is still held is detected.
func TestLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{T: t, chain: chain}
		for range rapid.IntRange(1, 40).Draw(t, "operations") {
			if len(g.alive) > 0 && rapid.Bool().Draw(t, "give back") {
				g.free(rapid.IntRange(0, len(g.alive)-1).Draw(t, "whose"))
			} else {
				g.take(rapid.SampledFrom(chain).Draw(t, "network"))
			}
		}
		if r := linear.Check(g.history(), chain, time.Minute); r.Verdict != linear.Linearizable {
			t.Fatalf("a correct set is %s: %v", r.Verdict, r.Wires)
		}
		if len(g.alive) == 0 {
			return
		}
		victim := rapid.SampledFrom(g.alive).Draw(t, "victim")
		g.now += 1000 // after its ADD has returned
		g.add(victim.network, victim.addr)
		r := linear.Check(g.history(), chain, time.Minute)
		if r.Verdict != linear.NotLinearizable || len(r.Wires) != 1 || r.Wires[0].Addr != victim.addr {
			t.Fatalf("%s was given away twice: %s %v", victim.addr, r.Verdict, r.Wires)
		}
	})
}

// generator is the correct set, with the events that its callers record. Its clock orders the times
// at which operations take effect.
type generator struct {
	*rapid.T
	chain  []model.Network
	now    time.Duration
	alive  []*sandbox
	events []model.Event
	count  int
}

type sandbox struct {
	network *model.Network
	addr    netip.Addr
	id      string
	added   time.Duration
}

// take is an ADD of a new sandbox. It assigns the lowest address that is free in all networks that
// share a wire with this one.
func (g *generator) take(n model.Network) {
	a := netip.MustParseAddr("10.0.0.1")
	for slices.ContainsFunc(g.alive, func(s *sandbox) bool { return s.addr == a && model.SameDomain(s.network, &n, a) }) {
		a = a.Next()
	}
	g.now += 10
	g.add(&n, a)
}

func (g *generator) add(n *model.Network, a netip.Addr) {
	g.count++
	s := &sandbox{n, a, fmt.Sprint("sandbox-", g.count), g.now + g.span("after")}
	g.alive = append(g.alive, s)
	g.say(s, model.AddBegin, g.now-g.span("before"))
	g.say(s, model.AddEnd, s.added)
}

// free is the release of a sandbox's address. The sandbox may have ended long before, and its DEL may
// end long after.
func (g *generator) free(i int) {
	s := g.alive[i]
	g.alive = slices.Delete(g.alive, i, i+1)
	g.now = max(g.now, s.added) + 10 // a sandbox is not stopped before it runs
	begin := max(g.now-g.span("before"), s.added)
	g.say(s, model.SandboxDown, begin)
	switch rapid.SampledFrom([]string{"comes through", "fails", "never begins"}).Draw(g.T, "its DEL") {
	case "comes through":
		g.say(s, model.DelBegin, begin)
		g.say(s, model.DelEnd, g.now+g.span("after"))
	case "fails":
		g.say(s, model.DelBegin, begin)
		g.say(s, model.DelEnd, g.now)
		g.events[len(g.events)-1].Err = "context deadline exceeded"
	}
}

func (g *generator) span(what string) time.Duration {
	return time.Duration(rapid.IntRange(0, 100).Draw(g.T, what))
}

func (g *generator) say(s *sandbox, kind model.EventKind, at time.Duration) {
	e := model.Event{Kind: kind, At: at, Container: s.id, Network: s.network.Key, Interface: "net1", Pod: model.PodRef{Namespace: "default", Name: s.id}}
	if kind == model.AddEnd {
		e.Addrs = []netip.Addr{s.addr}
	}
	g.events = append(g.events, e)
}

// history returns the events in the order of time; events of one sandbox keep their order.
func (g *generator) history() *model.History {
	h := &model.History{Events: slices.Clone(g.events)}
	slices.SortStableFunc(h.Events, func(a, b model.Event) int { return cmp.Compare(a.At, b.At) })
	return h
}

// Without time for the check the verdict is Unknown, never Linearizable.
func TestNoTimeIsUnknown(t *testing.T) {
	g := &generator{}
	n := &chain[0]
	s := &sandbox{network: n, addr: netip.MustParseAddr("10.0.0.1"), id: "sandbox-1"}
	g.say(s, model.AddBegin, 1)
	g.say(s, model.AddEnd, 2)
	if r := linear.Check(g.history(), chain, 0); r.Verdict != linear.Unknown || len(r.Wires) != 1 {
		t.Errorf("%s %v, want unknown", r.Verdict, r.Wires)
	}
}
