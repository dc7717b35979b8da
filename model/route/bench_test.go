package route_test

import (
	"fmt"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/model/route"
)

// grown is a cluster of n nodes with a block or more each, and pods on them.
func grown(nodes, podsEach int) route.Facts {
	f := route.Facts{Pools: []model.IPPool{{Prefix: cidr("10.64.0.0/12")}}}
	for i := range nodes {
		name := fmt.Sprintf("node-%03d", i)
		f.Nodes = append(f.Nodes, node(name, fmt.Sprintf("10.0.%d.%d/16", i/200, 10+i%200)))
		for b := range (podsEach + 63) / 64 {
			f.Affinities = append(f.Affinities, affinity(name, fmt.Sprintf("10.%d.%d.%d/26", 64+b, i/4, i%4*64), model.Confirmed))
		}
		for k := range podsEach {
			f.Local = append(f.Local, pod(name, fmt.Sprintf("10.%d.%d.%d", 64+k/64, i/4, i%4*64+k%64)))
		}
	}
	return f
}

func benchmark(b *testing.B, nodes, podsEach int) {
	f := grown(nodes, podsEach)
	last := 64 + (podsEach-1)/64 // second byte of every node's last block
	own, borrowed := pod("node-000", fmt.Sprintf("10.%d.0.63", last)), pod("node-001", fmt.Sprintf("10.%d.0.62", last))
	change := func(name string, with func(i int) route.Facts) {
		b.Run(name, func(b *testing.B) {
			p := route.New(route.Fabric{})
			p.Observe(0, f)
			now := time.Minute
			p.Advance(now)
			if l := p.Losses(); len(l) > 0 {
				b.Fatalf("%d pairs lost", len(l))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				now += 10 * time.Second
				p.Observe(now, with(i))
				p.Advance(now + 5*time.Second)
				p.Losses()
			}
		})
	}
	toggled := func(l route.Local) func(int) route.Facts {
		more := f
		more.Local = append(f.Local[:len(f.Local):len(f.Local)], l)
		return func(i int) route.Facts {
			if i%2 == 0 {
				return more
			}
			return f
		}
	}
	change("nothing", func(int) route.Facts { return f })
	change("pod", toggled(own))
	change("borrowed", toggled(borrowed))
	change("affinity", func(i int) route.Facts {
		if i%2 > 0 {
			return f
		}
		g := f
		g.Affinities = append(f.Affinities[:len(f.Affinities):len(f.Affinities)], affinity("node-001", "10.79.0.0/26", model.Confirmed))
		return g
	})
	change("session", func(i int) route.Facts {
		g := f
		if i%2 == 0 {
			g.Down = []route.Session{{A: "node-000", B: "node-001"}}
		}
		return g
	})
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			route.Converge(route.Fabric{}, f)
		}
	})
}

func BenchmarkChange10x100(b *testing.B) { benchmark(b, 10, 100) }
func BenchmarkChange100x30(b *testing.B) { benchmark(b, 100, 30) }
