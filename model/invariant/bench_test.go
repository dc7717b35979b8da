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

// BenchmarkAlways is what one step costs that changed truth or record.
func BenchmarkAlways(b *testing.B) {
	v := crowd()
	var always []Invariant
	for _, i := range All() {
		if i.Phase == Always {
			always = append(always, i)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		once := v.Indexed()
		for _, i := range always {
			if len(i.Check(once)) > 0 {
				b.Fatal(i.Name, i.Check(once))
			}
		}
	}
}

func BenchmarkEach(b *testing.B) {
	v := crowd()
	for _, i := range All() {
		b.Run(i.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				i.Check(v)
			}
		})
	}
}
