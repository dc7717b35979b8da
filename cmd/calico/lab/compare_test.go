package main

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/calico/lab/netns"
	"ipamsim/model/route"
	"ipamsim/model/route/fib"
)

// The possible results of a ping between a pair, by the model's routes.
func TestAgrees(t *testing.T) {
	ok := []fib.Way{{End: fib.Delivered, At: "b"}}
	hole := []fib.Way{{End: fib.Blackholed, At: "a"}}
	half := append(slices.Clone(ok), hole...)
	for _, c := range []struct {
		name        string
		there, back []fib.Way
		agree       []netns.Echo
	}{
		{"delivered", ok, ok, []netns.Echo{netns.Answered}},
		{"lost there", hole, nil, []netns.Echo{netns.Lost, netns.Unreachable, netns.Looped}},
		{"lost on the way back", ok, hole, []netns.Echo{netns.Lost, netns.Unreachable, netns.Looped}},
		{"half of the flows", half, ok, []netns.Echo{netns.Answered, netns.Lost, netns.Unreachable, netns.Looped}},
		{"half of the answers", ok, half, []netns.Echo{netns.Answered, netns.Lost, netns.Unreachable, netns.Looped}},
		{"half there, all lost back", half, hole, []netns.Echo{netns.Lost, netns.Unreachable, netns.Looped}},
		{"none knows", nil, nil, []netns.Echo{netns.Lost, netns.Unreachable, netns.Looped}},
	} {
		for got := netns.Answered; got <= netns.Unclear; got++ {
			p := &pair{there: c.there, back: c.back, got: got}
			if want := slices.Contains(c.agree, got); p.agrees() != want {
				t.Errorf("%s: ping says %v: agrees %t, want %t", c.name, got, !want, want)
			}
		}
	}
}

// Of a node every word of ip route counts; of a router only where a route leads,
// and its cables to other routers do not.
func TestGist(t *testing.T) {
	a := &machine{name: "a", ports: []port{{"eth0", "", netip.MustParsePrefix("10.64.0.11/24")}}}
	tor1 := &machine{name: "tor1", router: true, ports: []port{{"eth0", "", netip.MustParsePrefix("10.64.0.1/24")}, {"eth1", "", spineAddr(0, false)}}}
	tor2 := &machine{name: "tor2", router: true, ports: []port{{"eth0", "", netip.MustParsePrefix("10.64.1.1/24")}, {"eth1", "", spineAddr(1, false)}}}
	n := &network{machines: []*machine{a, tor1, tor2}}
	routes, err := netns.ParseRoutes(`[
{"dst":"10.255.255.0/24","dev":"eth1","protocol":"kernel","scope":"link","prefsrc":"10.255.255.1","flags":[]},
{"dst":"10.64.76.0/26","gateway":"10.255.255.2","dev":"eth1","protocol":"bird","flags":[]},
{"type":"blackhole","dst":"10.64.75.0/26","protocol":"bird","flags":[]},
{"dst":"10.64.0.0/24","dev":"eth0","protocol":"kernel","scope":"link","prefsrc":"10.64.0.1","flags":[]}]`, false)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(n.gist(tor1, routes), "; "), "10.64.0.0/24 to here; 10.64.76.0/26 to tor2; blackhole 10.64.75.0/26 to here"; got != want {
		t.Errorf("router: %s, want %s", got, want)
	}
	// The model knows the other router by its address in its own subnet.
	model := []fib.Route{{Dst: netip.MustParsePrefix("10.64.76.0/26"), Via: []netip.Addr{netip.MustParseAddr("10.64.1.1")}, Dev: "uplink"}}
	if got := strings.Join(n.gist(tor1, model), "; "); got != "10.64.76.0/26 to tor2" {
		t.Errorf("router in the model: %s", got)
	}
	got := n.gist(a, routes)
	if want := "10.64.76.0/26 via 10.255.255.2 dev eth1 proto bird"; len(got) != 4 || !slices.Contains(got, want) {
		t.Errorf("node: %q lacks %q", got, want)
	}
}

// A difference is shown with both tables, and its lines are marked.
func TestMarked(t *testing.T) {
	have, want := []string{"same", "10.64.75.0 via 10.64.0.12"}, []string{"same"}
	if got := strings.Join(marked(have, want), "|"); got != "  same|* 10.64.75.0 via 10.64.0.12" {
		t.Error(got)
	}
	if got := strings.Join(marked(want, have), "|"); got != "  same" {
		t.Error(got)
	}
}

// Every topology, of the list and made up, can be laid out, the model has an opinion of every pair, and no
// two of them are called the same.
func TestTopologies(t *testing.T) {
	seen := map[string]bool{}
	all := topologies()
	for i := range uint64(300) {
		all = append(all, random(1, i))
	}
	for _, top := range all {
		if seen[top.id] {
			t.Errorf("two topologies are called %s", top.id)
		}
		seen[top.id] = true
		var nodes []string
		for _, n := range top.facts.Nodes {
			nodes = append(nodes, n.Name)
		}
		if field, problem := top.fabric.Check(nodes); field != "" {
			t.Errorf("%s: %s: %s", top.id, field, problem)
		}
		n := &network{machines: lay(top, confd{})}
		model := route.Converge(top.fabric, top.facts)
		for _, m := range n.machines {
			if _, ok := model.Of(m.name); !ok {
				t.Errorf("%s: the model has no table of %s", top.id, m.name)
			}
		}
		if len(n.pairs()) == 0 {
			t.Errorf("%s: nothing to ping", top.id)
		}
		for _, p := range n.pairs() {
			if len(model.Walk(p.from.name, p.toPod.addr)) == 0 {
				t.Errorf("%s: %s: the model says nothing", top.id, p)
			}
		}
	}
}

// A made-up topology can be made again.
func TestRandomRepeats(t *testing.T) {
	for i := range uint64(50) {
		if a, b := random(7, i), random(7, i); !reflect.DeepEqual(a, b) {
			t.Errorf("%d: %v, and then %v", i, a, b)
		}
	}
	if reflect.DeepEqual(random(7, 1).facts, random(8, 1).facts) || reflect.DeepEqual(random(7, 1).facts, random(7, 2).facts) {
		t.Error("another seed or number makes the same")
	}
}
