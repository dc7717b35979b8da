package scenarios_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/reports/bench"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/whereabouts"
	"ipamsim/sim/strategy"
)

var benchJSON = flag.String("bench-json", "", "bench: write the figures there")

type metric = bench.Figure

// TestBench measures whole runs and what an ADD of Whereabouts costs, prints the
// table of reports/BENCH.md and writes bench.json; TestBench of sim/ipam/calico
// adds Calico's allocator. Figures that compare are medians of pairs taken in
// turn, because machines are noisy.
func TestBench(t *testing.T) {
	if *benchJSON == "" {
		t.Skip("SKIPPED: make bench")
	}
	m := map[string]metric{}
	for _, b := range []struct {
		name    string
		measure func(*testing.T, map[string]metric)
	}{
		{"add", benchAdd}, {"runs", benchRuns}, {"calico", benchCalico}, {"managers", benchManagers}, {"stores", benchStores},
		{"families", benchFamilies}, {"controllers", benchControllers}, {"callsites", benchCallSites}, {"memory", benchMemory}, {"ladder", benchLadder},
	} {
		t.Run(b.name, func(t *testing.T) { b.measure(t, m) })
	}
	host, _ := os.Hostname()
	machine := map[string]any{"host": host, "cpus": runtime.NumCPU(), "go": runtime.Version(), "hermetic": hermetic.Enabled}
	if err := errors.Join(os.RemoveAll(*benchJSON), bench.Add(*benchJSON, m, machine)); err != nil {
		t.Fatal(err)
	}
	fmt.Print(bench.Rows(m))
}

const (
	benchAdds  = 20 // concurrent
	benchPairs = 15
)

// benchAdd compares 20 concurrent ADDs under the kernel with the same upstream
// calls on the same API server and etcd in a bubble of their own without gate,
// schedule, trace or judge.
func benchAdd(t *testing.T, m map[string]metric) {
	store, err := etcd.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var ratios, perCall, simulated, direct []float64
	for i := range benchPairs + 1 {
		s, sc := adds(t, store, uint64(i), true)
		d, dc := adds(t, store, uint64(i), false)
		if i == 0 {
			continue // warm-up
		}
		ratios = append(ratios, s.Seconds()/d.Seconds())
		// The order of the calls determines how often the lease is requested, so the work of the two differs:
		// the time of one store call isolates the kernel's part.
		perCall = append(perCall, s.Seconds()/float64(sc)/(d.Seconds()/float64(dc)))
		simulated, direct = append(simulated, s.Seconds()/benchAdds*1e3), append(direct, d.Seconds()/benchAdds*1e3)
	}
	m["whereabouts_add_overhead_ratio"] = bench.NewFigure(bench.Median(ratios), "ratio",
		fmt.Sprintf("%d concurrent ADDs on one /24, wall time under the kernel against direct; median of %d pairs", benchAdds, benchPairs))
	m["whereabouts_add_overhead_per_call_ratio"] = bench.NewFigure(bench.Median(perCall), "ratio", "same pairs, wall time divided by the store calls each side made")
	m["whereabouts_add_ms"] = bench.NewFigure(bench.Median(simulated), "ms", "wall time an ADD under the kernel, same runs")
	m["whereabouts_add_direct_ms"] = bench.NewFigure(bench.Median(direct), "ms", "wall time an ADD direct, same runs")
}

// adds runs 20 concurrent ADDs and returns the wall time and the number of store calls.
func adds(t *testing.T, store *etcd.Server, seed uint64, kernel bool) (wall time.Duration, calls int) {
	run, err := store.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer run.End()
	a := whereabouts.New()
	config := json.RawMessage(`{"cniVersion":"0.3.1","name":"n","type":"macvlan","ipam":{"type":"whereabouts","range":"10.0.0.0/24"}}`)
	net, _, err := a.Network("default/n", config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = sim.Run(context.Background(), sim.Options{Seed: seed, Strategy: strategy.NewTimed(seed, strategy.Settings{})}, func(w *sim.World) error {
		api, err := ipam.Serve(w, run, a)
		if err != nil {
			return err
		}
		inst, err := a.Open(ipam.Env{API: api, Store: run, Networks: []model.Network{net}})
		if err != nil {
			return err
		}
		var wg sync.WaitGroup
		add := func(i int, g *sim.Gate) {
			defer wg.Done()
			if _, err := inst.Add(context.Background(), g, ipam.Call{
				Node: "n", Pod: model.PodRef{Namespace: "default", Name: fmt.Sprint("p", i)},
				Container: fmt.Sprint("c", i), Interface: "net1", Network: "default/n", Config: config,
			}); err != nil {
				t.Errorf("ADD %d: %v", i, err)
			}
		}
		wg.Add(benchAdds)
		before := run.Calls()
		began := bench.Wall()
		if !kernel {
			for i := range benchAdds {
				go add(i, nil)
			}
			wg.Wait()
			wall, calls = bench.Wall()-began, run.Calls()-before
			w.Finish()
			return nil
		}
		for i := range benchAdds {
			w.Spawn(sim.Process{ID: sim.ActorID(fmt.Sprint("add/", i)), Run: func(_ context.Context, g *sim.Gate) error {
				add(i, g)
				return nil
			}})
		}
		w.Spawn(sim.Process{ID: "end", Run: func(context.Context, *sim.Gate) error {
			wg.Wait()
			wall, calls = bench.Wall()-began, run.Calls()-before
			w.Finish()
			return nil
		}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return wall, calls
}

// benchRuns measures whole runs of Whereabouts: five pods of one network that come
// and go, and the R1 cluster, five pods on two networks.
func benchRuns(t *testing.T, m map[string]metric) {
	r := runner(t)
	benchWorld(t, m, r, "whereabouts", load(t, "testdata/bench/whereabouts-5-pods.yaml"))
	benchWorld(t, m, r, "whereabouts_r1", load(t, "r1-whereabouts-162.yaml"))
}

// benchWorld runs a world under 60 seeds in this process, on as many processors as
// a worker of a campaign has (GOMAXPROCS, 1 unless the user has set it).
func benchWorld(t *testing.T, m map[string]metric, r *scenarios.Runner, name string, s *scenarios.Scenario) {
	run(t, r, s, scenarios.Options{})
	const n = 60
	calls, steps := 0, 0
	cpu, began := bench.CPU(), time.Now()
	for seed := uint64(1); seed <= n; seed++ {
		rep := run(t, r, s, scenarios.Options{Seed: &seed})
		calls += rep.Calls
		steps += len(rep.Trace.Steps)
	}
	wall, used := time.Since(began).Seconds(), (bench.CPU() - cpu).Seconds()
	what := fmt.Sprintf("%s, %d seeds, one process on %d processor (%d steps and %d API calls a run)", s.Name(), n, runtime.GOMAXPROCS(0), steps/n, calls/n)
	m[name+"_api_calls_per_s"] = bench.NewFigure(float64(calls)/wall, "1/s", what+", by wall time")
	m[name+"_runs_per_s"] = bench.NewFigure(n/wall, "1/s", what+", by wall time")
	m[name+"_runs_per_s_core"] = bench.NewFigure(n/used, "1/s", what+", by processor time (collector and etcd included)")
}

// benchCalico measures whole runs of Calico: five pods in small blocks that come
// and go, the library's b2 with five pods, and the staging cluster of 90 pods on
// either datastore.
func benchCalico(t *testing.T, m map[string]metric) {
	r := runner(t)
	benchWorld(t, m, r, "calico", load(t, "testdata/bench/calico-5-pods.yaml"))
	benchWorld(t, m, r, "calico_b2", fivePods(t))
	steps := 0
	staging := load(t, "w1-two-blocks-a-node.yaml")
	for _, ds := range []string{"etcdv3", "kubernetes"} {
		var wall, used []float64
		for range 3 {
			cpu := bench.CPU()
			rep := run(t, r, staging, scenarios.Options{Datastore: ds})
			wall, used = append(wall, rep.Wall.Seconds()), append(used, (bench.CPU()-cpu).Seconds())
			steps = len(rep.Trace.Steps)
		}
		what := fmt.Sprintf("w1-two-blocks-a-node on %s, %d steps; median of 3 runs", ds, steps)
		m["calico_w1_"+ds+"_s"] = bench.NewFigure(bench.Median(wall), "s", what+", wall time")
		m["calico_w1_"+ds+"_cpu_s"] = bench.NewFigure(bench.Median(used), "s", what+", processor time")
	}
}

// benchManagers measures whole runs of the managers that are neither: the worlds of
// reports/FAMILIES.md in which processes start again.
func benchManagers(t *testing.T, m map[string]metric) {
	r := runner(t)
	for name, file := range map[string]string{"nodeipam": "nodeipam", "services": "services", "host_local": "host-local", "calico_lb": "calico-lb", "metallb": "metallb"} {
		benchWorld(t, m, r, name, load(t, "families/restart-"+file+".yaml"))
	}
}

// fivePods is the library's b2-192-168-100-10 with 4 pods on node-a instead of 10.
// node-b still borrows from its block, which is all there is.
func fivePods(t *testing.T) *scenarios.Scenario {
	t.Helper()
	body, err := os.ReadFile("b2-192-168-100-10.yaml")
	if err != nil {
		t.Fatal(err)
	}
	few := strings.Replace(string(body), "replicas: 10", "replicas: 4", 1)
	file := filepath.Join(t.TempDir(), "b2-five-pods.yaml")
	if err := os.WriteFile(file, []byte(few), 0o600); err != nil || few == string(body) {
		t.Fatal(err, "or no replicas: 10")
	}
	return load(t, file)
}

func benchMemory(t *testing.T, m map[string]metric) {
	r := runner(t)
	s := load(t, "r2-old-address-stays.yaml")
	var at100 float64
	for i := uint64(1); i <= 1000; i++ {
		run(t, r, s, scenarios.Options{Seed: &i})
		if i == 100 {
			at100 = rss(t)
		}
	}
	m["rss_1000_vs_100_runs_ratio"] = bench.NewFigure(rss(t)/at100, "ratio",
		fmt.Sprintf("resident memory after a collection, r2-old-address-stays; %.0f MiB after 100 runs", at100/(1<<20)))
}

func rss(t *testing.T) float64 {
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("SKIPPED: no /proc: %v", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	return float64(pages * os.Getpagesize())
}
