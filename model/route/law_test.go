package route_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/model/route/fib"
)

// drawn are random facts: up to five nodes on one or two subnets, four blocks of
// a few addresses with affinities of any state on any node, pods anywhere.
func drawn(t *rapid.T) route.Facts {
	f := route.Facts{Pools: []model.IPPool{{Name: "pool", Prefix: cidr("10.64.72.0/21")}}}
	names := []string{"a", "b", "c", "d", "e"}[:rapid.IntRange(2, 5).Draw(t, "nodes")]
	for i, n := range names {
		f.Nodes = append(f.Nodes, node(n, fmt.Sprintf("10.64.0.%d/24", 11+i)))
	}
	for b := range 4 {
		block := fmt.Sprintf("10.64.%d.0/26", 72+b)
		for _, n := range names {
			switch rapid.IntRange(0, 6).Draw(t, "affinity of "+n) {
			case 0:
				f.Affinities = append(f.Affinities, affinity(n, block, model.Confirmed))
			case 1:
				f.Affinities = append(f.Affinities, affinity(n, block, model.PendingDeletion))
			case 2:
				f.Affinities = append(f.Affinities, affinity(n, block, model.Pending))
			}
		}
		for k := range rapid.IntRange(0, 3).Draw(t, "pods") {
			f.Local = append(f.Local, pod(rapid.SampledFrom(names).Draw(t, "on"), fmt.Sprintf("10.64.%d.%d", 72+b, k)))
		}
	}
	return f
}

func drawnDown(t *rapid.T, f route.Facts) (down []route.Session) {
	for i, a := range f.Nodes {
		for _, b := range f.Nodes[i+1:] {
			if rapid.IntRange(0, 7).Draw(t, "down") == 0 {
				down = append(down, route.Session{A: a.Name, B: b.Name})
			}
		}
	}
	return down
}

// predicate is cmd/calico/lab's sentence, without tables: the ends of the way from a node
// to a pod's address in a mesh.
type predicate struct {
	f    route.Facts
	down []route.Session
}

func (p predicate) talk(a, b string) bool {
	return !slices.Contains(p.down, route.Session{A: a, B: b}) && !slices.Contains(p.down, route.Session{A: b, B: a})
}

// has returns the state of a node's affinity for the block of an address, "" if there is none
// or it is pending, because a pending one has no effect.
func (p predicate) has(node string, a netip.Addr) string {
	for _, x := range p.f.Affinities {
		if x.Node == node && x.Block.Contains(a) && x.State != model.Pending {
			return x.State
		}
	}
	return ""
}

func (p predicate) ends(from, holder string, to netip.Addr) map[fib.End]bool {
	// A more specific route than the block's: the pod's own, or the one that its node announces,
	// which the node does not hide in a confirmed block of its own.
	specific := func(n string) bool {
		return n == holder || p.talk(n, holder) && p.has(holder, to) != model.Confirmed
	}
	switch {
	case specific(from):
		return map[fib.End]bool{fib.Delivered: true}
	case p.has(from, to) != "":
		return map[fib.End]bool{fib.Blackholed: true}
	}
	out := map[fib.End]bool{}
	for _, n := range p.f.Nodes { // every node with an affinity announces the block
		if n.Name == from || p.has(n.Name, to) == "" || !p.talk(from, n.Name) {
			continue
		}
		if specific(n.Name) {
			out[fib.Delivered] = true
		} else {
			out[fib.Blackholed] = true
		}
	}
	if len(out) == 0 {
		out[fib.Unreachable] = true
	}
	return out
}

// The walk through the tables agrees with the rule in cmd/calico/lab: an address is blackholed iff
// the first node with an affinity for the block has no more specific route.
func TestPredicateAgreesWithWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawn(t)
		down := drawnDown(t, f)
		tables := route.Converge(route.Fabric{Down: down, NoDefaultRoute: []string{"*"}}, f)
		p := predicate{f, down}
		for _, from := range f.Nodes {
			for _, l := range f.Local {
				want, got := p.ends(from.Name, l.Node, l.Addr), map[fib.End]bool{}
				for _, w := range tables.Walk(from.Name, l.Addr) {
					got[w.End] = true
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("%s→%s on %s: walk %v, predicate %v\n%s", from.Name, l.Addr, l.Node, got, want, dump(tables))
				}
			}
		}
	})
}

// drawnFabric is any topology that fits the nodes.
func drawnFabric(t *rapid.T, f route.Facts) route.Fabric {
	switch rapid.IntRange(0, 2).Draw(t, "topology") {
	case 0:
		return route.Fabric{}
	case 1:
		return route.Fabric{Topology: route.Reflectors, Reflectors: []string{f.Nodes[rapid.IntRange(0, len(f.Nodes)-1).Draw(t, "reflector")].Name}}
	}
	tor := route.TopOfRack{
		DistinctAS: rapid.Bool().Draw(t, "distinct"), DefaultOnly: rapid.Bool().Draw(t, "defaultOnly"),
		MaxLength: rapid.SampledFrom([]int{0, 26}).Draw(t, "maxLength"), AllowLocalAS: rapid.IntRange(0, 1).Draw(t, "allow"),
	}
	tor.MaxLengthBetween = tor.MaxLength > 0 && rapid.Bool().Draw(t, "between")
	tor.Mesh = !tor.DistinctAS && rapid.Bool().Draw(t, "mesh")
	return route.Fabric{Topology: route.ToR, TopOfRack: tor}
}

// However the facts came about, once everything has settled, tables and losses equal those of
// a plane that saw only the last facts.
func TestHistoryDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawn(t)
		fabric := drawnFabric(t, f)
		for i := range f.Nodes {
			if rapid.Bool().Draw(t, "rack") {
				f.Nodes[i].Addr = cidr(fmt.Sprintf("10.64.1.%d/24", 11+i))
			}
		}
		p := route.New(fabric)
		now := time.Duration(0)
		p.Observe(now, f)
		for range rapid.IntRange(0, 12).Draw(t, "changes") {
			now += time.Duration(rapid.SampledFrom([]int{0, 1, 1000, 60_000, 300_000}).Draw(t, "ms")) * time.Millisecond
			p.Observe(now, disturbed(t, f))
		}
		p.Observe(now, f)
		for at, ok := p.Next(); ok; at, ok = p.Next() {
			now = at
			p.Advance(at)
		}
		fresh := route.New(fabric)
		fresh.Observe(0, f)
		fresh.Advance(time.Hour)
		if got, want := dump(p.Tables()), dump(fresh.Tables()); got != want {
			t.Fatalf("after history\n%s\nfresh\n%s", got, want)
		}
		if got, want := timeless(p.Losses()), timeless(fresh.Losses()); !slices.Equal(got, want) {
			t.Fatalf("losses after history\n%+v\nfresh\n%+v", got, want)
		}
		check(t, p.Tables(), p.Losses(), f)
	})
}

func timeless(list []route.Loss) []route.Loss {
	list = slices.Clone(list)
	for i := range list {
		list[i].Since = 0
	}
	return list
}

// disturbed is the facts with some of them missing or broken.
func disturbed(t *rapid.T, f route.Facts) route.Facts {
	f.Nodes, f.Local, f.Affinities = slices.Clone(f.Nodes), slices.Clone(f.Local), slices.Clone(f.Affinities)
	for i := range f.Nodes {
		n := &f.Nodes[i]
		switch rapid.IntRange(0, 5).Draw(t, "node") {
		case 0:
			n.Up, n.BIRD, n.Felix = false, false, false
			f.Local = slices.DeleteFunc(f.Local, func(l route.Local) bool { return l.Node == n.Name })
		case 1:
			n.BIRD = false
		}
	}
	if len(f.Nodes) > 2 && rapid.IntRange(0, 5).Draw(t, "leaves") == 0 {
		f.Nodes = f.Nodes[1:]
	}
	f.Local = slices.DeleteFunc(f.Local, func(route.Local) bool { return rapid.Bool().Draw(t, "pod gone") })
	f.Affinities = slices.DeleteFunc(f.Affinities, func(model.Affinity) bool { return rapid.Bool().Draw(t, "affinity gone") })
	f.Down = drawnDown(t, f)
	return f
}

// check compares losses with the walk of every pair.
func check(t *rapid.T, tables *fib.Tables, losses []route.Loss, f route.Facts) {
	for _, from := range f.Nodes {
		for _, l := range f.Local {
			there, back := tables.RoundTrip(from.Name, from.Addr.Addr(), l.Node, l.Addr)
			all, some := fib.Arrives(there)
			answered, someAnswers := fib.Arrives(back)
			i := slices.IndexFunc(losses, func(x route.Loss) bool { return x.From == from.Name && x.To == l.Addr })
			if lost := !all || !answered; lost != (i >= 0) {
				t.Fatalf("%s→%s: there %v, back %v, losses %+v", from.Name, l.Addr, there, back, losses)
			}
			if i >= 0 && (losses[i].Back != all || losses[i].Some != (!all && some || all && someAnswers)) {
				t.Fatalf("%s→%s: there %v, back %v, loss %+v", from.Name, l.Addr, there, back, losses[i])
			}
		}
	}
}
