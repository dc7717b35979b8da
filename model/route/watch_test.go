package route_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ipamsim/model/route"
	"ipamsim/model/route/fib"
)

// A consumer of changes alone knows all tables: after any changes of nodes, blocks and pods, and
// while routes change by themselves.
func TestWatchKnowsEveryTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := route.New(route.Fabric{Topology: rapid.SampledFrom([]string{route.Mesh, route.ToR}).Draw(t, "topology")})
		w, known := p.Watch(), map[string]map[netip.Prefix]string{}
		now := time.Duration(0)
		for range rapid.IntRange(1, 6).Draw(t, "looks") {
			for range rapid.IntRange(1, 2).Draw(t, "changes between two looks") {
				f := drawn(t)
				for i := range f.Nodes {
					up := rapid.IntRange(0, 4).Draw(t, "up") > 0
					f.Nodes[i].Up, f.Nodes[i].BIRD, f.Nodes[i].Felix = up, up, up
				}
				now += time.Duration(rapid.IntRange(0, 300).Draw(t, "seconds")) * time.Second
				p.Observe(now, f)
			}
			w.Changes(func(place string, dst netip.Prefix, r *fib.Route) {
				if known[place] == nil {
					known[place] = map[netip.Prefix]string{}
				}
				if delete(known[place], dst); r != nil {
					known[place][dst] = r.String()
				}
			})
			if d := cmp.Diff(tablesOf(p), nonempty(known)); d != "" {
				t.Fatalf("at %s: -tables +known:\n%s", now, d)
			}
		}
	})
}

func tablesOf(p *route.Plane) map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, name := range p.Tables().Names() {
		table, _ := p.Tables().Of(name)
		for i := range table.Routes {
			if out[name] == nil {
				out[name] = map[string]string{}
			}
			out[name][table.Routes[i].Dst.String()] = table.Routes[i].String()
		}
	}
	return out
}

func nonempty(known map[string]map[netip.Prefix]string) map[string]map[string]string {
	out := map[string]map[string]string{}
	for name, routes := range known {
		for dst, text := range routes {
			if out[name] == nil {
				out[name] = map[string]string{}
			}
			out[name][dst.String()] = text
		}
	}
	return out
}
