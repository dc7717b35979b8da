package capacity_test

import (
	"flag"
	"fmt"
	"net/netip"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
	"ipamsim/reports/bench"
)

var benchJSON = flag.String("bench-json", "", "bench: add the figures to this file")

// growth is a cluster of many nodes with 30 pods each that live three days on the
// average, nodes that crash and are replaced once in two months, and a collector
// that looks every five minutes.
func growth(nodes int, horizon time.Duration) *capacity.Cluster {
	const month = 30 * 24 * time.Hour
	c := &capacity.Cluster{
		Manager: &calico.Config{
			Datastore: reference.Kubernetes, Settings: reference.Config{AutoAllocate: true},
			Pools: []reference.Pool{{Name: "pods", Prefix: netip.MustParsePrefix("10.0.0.0/12"), BlockBits: 26}},
		},
		Workload: workload.Workload{
			Load:    workload.Load{PodsPerNode: workload.Distribution{Mean: 30}, Lifetime: 72 * time.Hour},
			Trouble: workload.Trouble{CrashEvery: 2 * month, CrashFor: 10 * time.Minute, ReplaceEvery: 2 * month, ReplaceFor: 10 * time.Minute},
			Collect: workload.Collect{Every: 5 * time.Minute},
			Horizon: horizon,
		},
	}
	for i := range nodes {
		c.Nodes = append(c.Nodes, workload.Node{Name: fmt.Sprint("node-", i)})
	}
	return c
}

func play(t testing.TB, c *capacity.Cluster) (p *capacity.Player, events int) {
	t.Helper()
	trace := c.Trace(1)
	p, err := capacity.NewPlayer(c, trace)
	if err != nil {
		t.Fatal(err)
	}
	for e := range trace.Events() {
		events++
		if err := p.Do(e); err != nil {
			t.Fatal(err)
		}
	}
	if x := p.Course(); x.Exhausted != capacity.Never || len(x.Samples) != c.SampleCount() {
		t.Fatalf("exhausted at %s, %d samples", x.Exhausted, len(x.Samples))
	}
	return p, events
}

// The cost of one event, over all events of 50 nodes and of 5,000: without passes, which process
// all blocks, and with two samples.
func BenchmarkEvent(b *testing.B) {
	for _, nodes := range []int{50, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			perEvent(b, nodes)
		})
	}
}

func perEvent(t testing.TB, nodes int) time.Duration {
	c := growth(nodes, 10*time.Duration(5000/nodes)*24*time.Hour)
	c.Collect, c.Samples = workload.Collect{}, 2
	began := bench.CPU()
	_, events := play(t, c)
	each := (bench.CPU() - began) / time.Duration(events)
	if b, ok := t.(*testing.B); ok {
		b.ReportMetric(float64(each), "cpu-ns/event")
	}
	return each
}

// TestBench measures what a repeat of a large plan costs.
func TestBench(t *testing.T) {
	if *benchJSON == "" {
		t.Skip("SKIPPED: make bench")
	}
	debug.SetGCPercent(400) // as scenarios.NewRunner does
	debug.SetMemoryLimit(1 << 30)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	m := map[string]bench.Figure{}
	wall, cpu := bench.Wall(), bench.CPU()
	const days = 30
	p, events := play(t, growth(5000, days*24*time.Hour))
	wall, cpu = bench.Wall()-wall, bench.CPU()-cpu
	var heap runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&heap)
	runtime.KeepAlive(p)
	how := fmt.Sprintf("reference/calico: 5000 nodes, 150,000 pods of 3 days' mean life, %d days, a crash and a replacement per node and two months, a pass every 5 min, 100 samples; one repeat, %d events, two processors", days, events)
	m["plan_growth_5000_wall_s"] = bench.NewFigure(wall.Seconds(), "s", how)
	m["plan_growth_5000_cpu_s"] = bench.NewFigure(cpu.Seconds(), "s", how+", processor time with collector")
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	m["plan_growth_5000_rss_mib"] = bench.NewFigure(float64(u.Maxrss)/1024, "MiB", "the most that this process had resident, same run, with a limit of 1 GiB for Go and GOGC=400")
	m["plan_growth_5000_heap_mib"] = bench.NewFigure(float64(heap.HeapAlloc)/(1<<20), "MiB", "what is in use at the end of it, after a collection")
	small, large := perEvent(t, 50), perEvent(t, 5000)
	m["plan_event_5000_vs_50_ratio"] = bench.NewFigure(float64(large)/float64(small), "",
		fmt.Sprintf("processor time an event (its making, its ADD or DEL) with 5,000 nodes against 50, no passes, 2 samples: %s and %s", large, small))
	if err := bench.Add(*benchJSON, m, nil); err != nil {
		t.Fatal(err)
	}
	fmt.Print(bench.Rows(m))
}
