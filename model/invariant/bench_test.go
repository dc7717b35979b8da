package invariant

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"ipamsim/model"
)

// crowd is a run in the middle: 50 live sandboxes on ten nodes, 250 claims of
// which 200 wait for a reconciler, every one reserved, and 5,000 events. Two pools
// overlap, so that no oracle can take its short cut.
func crowd() View {
	v := View{
		Networks: []model.Network{{Key: "default/net", Overlap: true, Ranges: within("10.0.0.0/22", "10.0.0.1", "10.0.3.254")}},
		Truth:    model.Truth{At: time.Hour, Pods: map[model.PodRef]model.Pod{}, Nodes: map[string]model.Node{}, Busy: map[string]model.Busy{}},
		Record:   model.Snapshot{Pools: []model.Pool{{Name: "10.0.0.0-20", Range: cidr("10.0.0.0/20")}, {Name: "10.0.0.0-22", Range: cidr("10.0.0.0/22")}}},
		History:  &model.History{},
		Settings: Settings{LeakAfter: time.Hour, StuckAfter: time.Hour},
	}
	addr := ip("10.0.0.1")
	for i := range 250 {
		pod := model.PodRef{Namespace: "default", Name: fmt.Sprintf("web-%d", i)}
		id := fmt.Sprintf("%064x", i)
		v.Record.Claims = append(v.Record.Claims, model.Claim{Pool: "10.0.0.0-22", Addr: addr, Pod: pod, Container: id})
		v.Record.Reservations = append(v.Record.Reservations, model.Reservation{Name: addr.String(), Addr: addr, Pod: pod})
		if i%5 == 0 {
			node := fmt.Sprintf("node-%d", i%10)
			v.Truth.Nodes[node] = model.Node{Up: true, Registered: true}
			v.Truth.Pods[pod] = model.Pod{UID: id, Node: node, Phase: "Running", Networks: []string{"default/net"}}
			v.Truth.Sandboxes = append(v.Truth.Sandboxes, model.Sandbox{ID: id, Pod: pod, UID: id, Node: node,
				Attachments: []model.Attachment{{Network: "default/net", Interface: "net1", Addrs: []netip.Addr{addr}}}})
		}
		if i < 10 {
			v.Truth.Busy[fmt.Sprintf("b%d", i)] = model.Busy{Pod: pod, Node: "node-0", Since: time.Hour}
		}
		for range 20 {
			v.History.Add(model.Event{Kind: model.AddEnd, At: time.Minute, Container: id, Pod: pod})
		}
		addr = addr.Next()
	}
	return v
}

// blockCrowd is the same with blocks of 64, ten for each of 25 nodes, and every
// claim with a handle; StrictAffinity is on, and a few addresses are borrowed.
func blockCrowd() View {
	v := crowd()
	n := &v.Networks[0]
	n.Overlap, n.Blocks = false, &model.BlockPolicy{V4: true, AutoAllocate: true, Strict: true, MaxBlocks: 20, Pools: []model.IPPool{{Prefix: cidr("10.0.0.0/16"), BlockBits: 26, Workloads: true}}}
	v.Record.Pools, v.Record.Reservations = nil, nil
	at := ip("10.0.0.0")
	for i := range 250 {
		b := netip.PrefixFrom(at, 26)
		v.Record.Pools = append(v.Record.Pools, model.Pool{Name: b.String(), Range: b, Node: fmt.Sprintf("node-%d", i%25)})
		v.Record.Affinities = append(v.Record.Affinities, model.Affinity{Block: b, Node: fmt.Sprintf("node-%d", i%25), State: model.Confirmed})
		at = model.LastAddr(b).Next()
	}
	for i := range v.Record.Claims {
		c := &v.Record.Claims[i]
		c.Pool, c.Handle, c.Node = v.Record.Pools[i/64].Name, "net."+c.Container, v.Record.Pools[i/64].Node
		if i%50 == 0 {
			c.Node = "node-20"
		}
		v.Record.Handles = append(v.Record.Handles, model.Handle{ID: c.Handle, Counts: []model.HandleCount{{Block: v.Record.Pools[i/64].Range, Count: 1}}})
	}
	v.Past = &Past{}
	return v
}

// BenchmarkAlways is the cost of one step that changed the truth or the record.
func BenchmarkAlways(b *testing.B) {
	b.Run("ranges", func(b *testing.B) { always(b, crowd()) })
	b.Run("blocks", func(b *testing.B) { always(b, blockCrowd()) })
}

func always(b *testing.B, v View) {
	var always []Invariant
	for _, i := range All() {
		if i.Phase == Always {
			always = append(always, i)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		once := v.Indexed()
		if once.Past != nil {
			once.Past.Note(once)
		}
		for _, i := range always {
			if len(i.Check(once)) > 0 {
				b.Fatal(i.Name, i.Check(once))
			}
		}
	}
}

func BenchmarkEach(b *testing.B) {
	v := blockCrowd()
	for _, i := range All() {
		b.Run(i.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				i.Check(v)
			}
		})
	}
}
