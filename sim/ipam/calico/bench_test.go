package calico

import (
	"context"
	"flag"
	"fmt"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	upstream "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	"github.com/projectcalico/calico/libcalico-go/lib/options"

	"ipamsim/model"
	"ipamsim/reports/bench"
	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/longtest"
	"ipamsim/sim/strategy"
)

// populate allocates addresses for pods on a number of nodes, node by node, one after the other.
// Each allocation has its own client, as each execution of the CNI plugin has.
func populate(t testing.TB, nodes, pods int, dial func() (clientv3.Interface, error)) (out []allocated) {
	out = make([]allocated, 0, nodes*pods)
	for n := range nodes {
		for p := range pods {
			node, pod := fmt.Sprintf("node-%04d", n), fmt.Sprintf("pod-%04d-%02d", n, p)
			handle := record.NetworkKey + ".sandbox-of-" + pod
			began := bench.Wall()
			c, err := dial()
			if err != nil {
				t.Fatal(err)
			}
			v4, _, err := c.IPAM().AutoAssign(context.Background(), upstream.AutoAssignArgs{
				Num4: 1, HandleID: &handle, Hostname: node, IntendedUse: apiv3.IPPoolAllowedUseWorkload,
				Attrs: map[string]string{
					upstream.AttributeNode: node, upstream.AttributeTimestamp: time.Now().UTC().String(),
					upstream.AttributePod: pod, upstream.AttributeNamespace: "default",
				},
			})
			if err == nil {
				err = v4.PartialFulfillmentError()
			}
			if err != nil {
				t.Fatalf("%s on %s: %v", pod, node, err)
			}
			out = append(out, allocated{v4.IPs[0].String(), bench.Wall() - began})
		}
	}
	return out
}

// allocated is an address and the wall time it took to get.
type allocated struct {
	addr string
	wall time.Duration
}

func sum(as []allocated) (wall time.Duration) {
	for _, a := range as {
		wall += a.wall
	}
	return wall
}

// found is a cluster before its first pod: a pool and nodes.
func found(t testing.TB, c clientv3.Interface, nodes int) {
	ctx := context.Background()
	if err := c.EnsureInitialized(ctx, store.Version, "k8s"); err != nil {
		t.Fatal(err)
	}
	p := apiv3.NewIPPool()
	p.Name = "default-ipv4-ippool"
	p.Spec = apiv3.IPPoolSpec{CIDR: "10.64.0.0/14", BlockSize: 26, NodeSelector: "all()", IPIPMode: apiv3.IPIPModeNever, VXLANMode: apiv3.VXLANModeNever}
	if _, err := c.IPPools().Create(ctx, p, options.SetOptions{}); err != nil {
		t.Fatal(err)
	}
	for n := range nodes {
		node := libapiv3.NewNode()
		node.Name = fmt.Sprintf("node-%04d", n)
		node.Spec.OrchRefs = []libapiv3.OrchRef{{NodeName: node.Name, Orchestrator: orchestrator}}
		if _, err := c.Nodes().Create(ctx, node, options.SetOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// simulated fills a cluster in the simulator: in a bubble, every call of the
// datastore a message, etcd behind the bridge. steps is the number of messages.
func simulated(t testing.TB, server *etcd.Server, nodes, pods int) (all []allocated, steps int) {
	run, err := server.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return simulatedOn(t, run, nodes, pods)
}

// simulatedOn is simulated on a store.
func simulatedOn(t testing.TB, run *etcd.Run, nodes, pods int) (all []allocated, steps int) {
	defer run.End()
	a := New()
	tr, err := sim.Run(context.Background(), sim.Options{
		Seed: 1, Strategy: strategy.NewTimed(1, strategy.Settings{}), Limits: sim.Limits{Steps: 1 << 30},
	}, func(w *sim.World) error {
		api, err := ipam.Serve(w, run, a)
		if err != nil {
			return err
		}
		i, err := instanceIn(ipam.Env{API: api, Store: run, Datastore: store.Etcd, Networks: []model.Network{{Key: record.NetworkKey}}})
		if err != nil {
			return err
		}
		found(t, client(t, i, nil), nodes)
		w.Spawn(sim.Process{ID: "cni", Run: func(_ context.Context, g *sim.Gate) error {
			defer w.Finish()
			all = populate(t, nodes, pods, func() (clientv3.Interface, error) { return i.ds.Client(g, 0) })
			return nil
		}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, len(tr.Steps)
}

// direct fills the same cluster in the same etcd without the simulator: upstream's client over
// etcd's own.
func direct(t testing.TB, server *etcd.Server, localReads bool, nodes, pods int) []allocated {
	conn, end, err := server.Direct(localReads)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	}()
	dial := func() (clientv3.Interface, error) {
		var be bapi.Client
		if be, err = store.OverEtcd(conn); err != nil {
			return nil, err
		}
		return store.WithBackend(be)
	}
	c, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	found(t, c, nodes)
	return populate(t, nodes, pods, dial)
}

// benchRound is the time of one side of a comparison.
type benchRound struct{ wall, cpu time.Duration }

func timed(f func() []allocated) benchRound {
	cpu := bench.CPU()
	wall := sum(f())
	return benchRound{wall, bench.CPU() - cpu}
}

// benchOverhead compares the same allocations in the simulator and with nothing of
// ours around them, in turn, because machines are noisy.
func benchOverhead(t *testing.T, server *etcd.Server, m map[string]figure) {
	const nodes, pods, rounds = 20, 30, 15
	var wall, cpu, local, here, there []float64
	messages := 0
	for i := range rounds + 1 {
		var s, d, l benchRound
		sides := []func(){
			func() {
				s = timed(func() (all []allocated) { all, messages = simulated(t, server, nodes, pods); return all })
			},
			func() { d = timed(func() []allocated { return direct(t, server, false, nodes, pods) }) },
			func() { l = timed(func() []allocated { return direct(t, server, true, nodes, pods) }) },
		}
		for j := range sides {
			sides[(i+j)%len(sides)]()
		}
		if i == 0 {
			continue // warm-up
		}
		wall, cpu = append(wall, s.wall.Seconds()/d.wall.Seconds()), append(cpu, s.cpu.Seconds()/d.cpu.Seconds())
		local = append(local, s.wall.Seconds()/l.wall.Seconds())
		here, there = append(here, s.wall.Seconds()*1e3/(nodes*pods)), append(there, d.wall.Seconds()*1e3/(nodes*pods))
	}
	what := fmt.Sprintf("%d nodes x %d AutoAssigns (%.1f messages each), one after the other, in the simulator against upstream's client over etcd's own in-process client outside of bubbles, same etcd; median of %d rounds in turn",
		nodes, pods, float64(messages)/(nodes*pods), rounds)
	m["calico_autoassign_overhead_ratio"] = bench.NewFigure(bench.Median(wall), "ratio", what+", wall time")
	m["calico_autoassign_overhead_quartiles"] = bench.NewFigure(bench.Quantile(wall, 0.75)-bench.Quantile(wall, 0.25), "ratio", "distance between the quartiles of the same rounds: how far to trust their median")
	m["calico_autoassign_overhead_cpu_ratio"] = bench.NewFigure(bench.Median(cpu), "ratio", "same rounds, processor time of the whole process, the making of the cluster included")
	m["calico_autoassign_overhead_local_reads_ratio"] = bench.NewFigure(bench.Median(local), "ratio", "same rounds, wall time against a client that reads as runs do, without a round of raft")
	m["calico_autoassign_ms"] = bench.NewFigure(bench.Median(here), "ms", "wall time an AutoAssign in the simulator, same rounds")
	m["calico_autoassign_direct_ms"] = bench.NewFigure(bench.Median(there), "ms", "wall time an AutoAssign of upstream's alone, same rounds")
}

// benchStores compares the same allocations in the simulator on etcd and on the fast
// store, in turn.
func benchStores(t *testing.T, server *etcd.Server, m map[string]figure) {
	const nodes, pods, rounds = 20, 30, 15
	var wall, cpu, fast []float64
	for i := range rounds + 1 {
		var e, f benchRound
		sides := []func(){
			func() { e = timed(func() []allocated { all, _ := simulated(t, server, nodes, pods); return all }) },
			func() {
				f = timed(func() []allocated { all, _ := simulatedOn(t, server.BeginMemory(), nodes, pods); return all })
			},
		}
		for j := range sides {
			sides[(i+j)%len(sides)]()
		}
		if i == 0 {
			continue // warm-up
		}
		wall, cpu = append(wall, e.wall.Seconds()/f.wall.Seconds()), append(cpu, e.cpu.Seconds()/f.cpu.Seconds())
		fast = append(fast, f.wall.Seconds()*1e3/(nodes*pods))
	}
	what := fmt.Sprintf("%d nodes x %d AutoAssigns in the simulator on etcd and in memory; median of %d rounds in turn", nodes, pods, rounds)
	m["calico_autoassign_fast_vs_etcd_ratio"] = bench.NewFigure(bench.Median(wall), "ratio", what+", wall time")
	m["calico_autoassign_fast_vs_etcd_cpu_ratio"] = bench.NewFigure(bench.Median(cpu), "ratio", what+", processor time, the making of the cluster included")
	m["calico_autoassign_fast_ms"] = bench.NewFigure(bench.Median(fast), "ms", "wall time an AutoAssign in memory, same rounds")
}

// benchScale fills a cluster of 1,000 nodes with 30 pods each.
func benchScale(t *testing.T, server *etcd.Server, m map[string]figure) {
	const nodes, pods = 1000, 30
	all, messages := simulated(t, server, nodes, pods)
	what := fmt.Sprintf("%d nodes x %d pods, node by node, etcdv3, AutoAssign in the simulator, %d messages in one run", nodes, pods, messages)
	m["calico_allocations_per_s"] = bench.NewFigure(float64(len(all))/sum(all).Seconds(), "1/s", what+", by wall time")
	mean, later := growth(all, pods)
	m["calico_cost_30k_vs_1k_ratio"] = bench.NewFigure(mean, "ratio", "same run: mean wall time of the 990 allocations before the 30,000th against the 990 around the 1,000th")
	m["calico_cost_30k_vs_1k_later_ratio"] = bench.NewFigure(later, "ratio", "same allocations without the first one of each node, medians")
	all = direct(t, server, true, nodes, pods)
	m["calico_allocations_direct_per_s"] = bench.NewFigure(float64(len(all))/sum(all).Seconds(), "1/s", "the same with upstream alone, reads as in runs")
	mean, later = growth(all, pods)
	m["calico_cost_30k_vs_1k_direct_ratio"] = bench.NewFigure(mean, "ratio", "as calico_cost_30k_vs_1k_ratio, upstream alone: for its first block a node reads every block of the pool")
	m["calico_cost_30k_vs_1k_later_direct_ratio"] = bench.NewFigure(later, "ratio", "as calico_cost_30k_vs_1k_later_ratio, upstream alone")
}

// growth compares the last 33 nodes with those that brought the first thousand
// pods: all their allocations, and those that found a block of the node's.
func growth(all []allocated, pods int) (mean, later float64) {
	const window = 33
	at := func(node int) (all33 time.Duration, typical float64) {
		var own []float64
		some := all[node*pods : (node+window)*pods]
		for i, a := range some {
			if i%pods > 0 {
				own = append(own, a.wall.Seconds())
			}
		}
		return sum(some), bench.Median(own)
	}
	early, earlyOwn := at(17)
	late, lateOwn := at(len(all)/pods - window)
	return late.Seconds() / early.Seconds(), lateOwn / earlyOwn
}

type figure = bench.Figure

var benchJSON = flag.String("bench-json", "", "bench: add the figures to this file")

// TestBench measures what Calico's allocator costs in the simulator, prints the
// rows of reports/BENCH.md and adds them to bench.json.
func TestBench(t *testing.T) {
	if *benchJSON == "" {
		t.Skip("SKIPPED: make bench")
	}
	debug.SetGCPercent(400) // as scenarios.NewRunner does
	prepare()
	m := map[string]figure{}
	server := startEtcd(t)
	benchOverhead(t, server, m)
	benchStores(t, server, m)
	benchScale(t, server, m)
	benchReference(t, m)
	if err := bench.Add(*benchJSON, m, nil); err != nil {
		t.Fatal(err)
	}
	fmt.Print(bench.Rows(m))
}

// Both sides of the comparison do the same work: a single process gets the same
// addresses in the simulator as on etcd itself, whichever way etcd is read.
func TestBenchSidesAgree(t *testing.T) {
	longtest.Skip(t)
	server := startEtcd(t)
	addrs := func(all []allocated) (out []string) {
		for _, a := range all {
			out = append(out, a.addr)
		}
		return out
	}
	all, _ := simulated(t, server, 3, 70)
	want := addrs(all)
	if len(want) != 210 {
		t.Fatalf("%d addresses, want 210", len(want))
	}
	for _, localReads := range []bool{false, true} {
		if diff := cmp.Diff(want, addrs(direct(t, server, localReads, 3, 70))); diff != "" {
			t.Errorf("local reads %v (-simulated +direct):\n%s", localReads, diff)
		}
	}
	if again, _ := simulated(t, server, 3, 70); !slices.Equal(addrs(again), want) {
		t.Error("after Direct a run is another one")
	}
}

// BenchmarkAutoAssign is for profiles: 20 nodes with 30 pods an iteration.
func BenchmarkAutoAssign(b *testing.B) {
	prepare()
	server := startEtcd(b)
	for _, side := range []struct {
		name string
		fill func() []allocated
	}{
		{"simulated", func() []allocated { all, _ := simulated(b, server, 20, 30); return all }},
		{"direct", func() []allocated { return direct(b, server, false, 20, 30) }},
		{"direct, local reads", func() []allocated { return direct(b, server, true, 20, 30) }},
	} {
		b.Run(side.name, func(b *testing.B) {
			var wall time.Duration
			for range b.N {
				wall += sum(side.fill())
			}
			b.ReportMetric(float64(wall.Microseconds())/float64(600*b.N), "µs/AutoAssign")
		})
	}
}
