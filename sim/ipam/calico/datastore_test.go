package calico

import (
	"context"
	"runtime"
	"testing"

	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"github.com/projectcalico/calico/libcalico-go/lib/options"

	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/longtest"
	"ipamsim/sim/strategy"
)

// Both datastores use the real clients: another process reads what one process writes through its
// gate, and every message is a step.
func TestDatastores(t *testing.T) {
	server := startEtcd(t)
	for _, ds := range datastores {
		t.Run(ds, func(t *testing.T) {
			tr := inRun(t, server, strategy.NewTimed(1, strategy.Settings{}), ds, func(w *sim.World, i *instance) {
				w.Spawn(sim.Process{ID: "operator", Run: func(ctx context.Context, g *sim.Gate) error {
					defer w.Finish()
					if err := i.setup(); err != nil {
						t.Error(err)
					}
					c := client(t, i, g)
					info, err := c.ClusterInformation().Get(ctx, "default", options.GetOptions{})
					if err != nil || info.Spec.DatastoreReady == nil || !*info.Spec.DatastoreReady {
						t.Errorf("datastore not ready: %v, %v", info, err)
					}
					l, err := store.Backend(c).List(ctx, model.BlockListOptions{}, "")
					if err != nil || len(l.KVPairs) != 0 {
						t.Errorf("blocks of an empty datastore: %v, %v", l, err)
					}
					return nil
				}})
			})
			if n := len(tr.Steps); n != 2 {
				t.Errorf("%d steps, want one for each of 2 messages: %v", n, tr.Steps)
			}
		})
	}
}

func startEtcd(t testing.TB) *etcd.Server {
	t.Helper()
	server, err := etcd.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server
}

func client(t testing.TB, i *instance, g *sim.Gate) clientv3.Interface {
	t.Helper()
	c, err := i.ds.Client(g, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// inRun runs what setup spawns over the real datastore, in one bubble.
func inRun(t testing.TB, server *etcd.Server, s sim.Strategy, ds string, setup func(*sim.World, *instance)) *sim.Trace {
	t.Helper()
	run, err := server.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer run.End()
	a := New()
	s.Begin(0)
	tr, err := sim.Run(context.Background(), sim.Options{Seed: 1, Strategy: s}, func(w *sim.World) error {
		api, err := ipam.Serve(w, run, a)
		if err != nil {
			return err
		}
		w.Hooks.Panic = func(id sim.ActorID, v any, stack string) { t.Errorf("%s panicked: %v\n%s", id, v, stack) }
		i, err := instanceIn(ipam.Env{API: api, Store: run, Datastore: ds})
		if err != nil {
			return err
		}
		setup(w, i)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// A run releases its resources: transports, goroutines and memory do not grow over the runs of one
// process (measured: 1,000).
func TestRunsLeaveNothingBehind(t *testing.T) {
	longtest.Skip(t)
	server := startEtcd(t)
	for _, ds := range datastores {
		t.Run(ds, func(t *testing.T) {
			var heap, goroutines uint64
			for i := range 61 {
				story(t, server, allocRun{datastore: ds}, func(w *allocWorld) {
					w.nodes("a")
					w.pool("p", "10.64.75.0/24")
					w.fill("a", 1)
					w.must(w.del("a", "a-0"))
				})
				if i%30 != 0 {
					continue
				}
				h, g := footprint()
				if i == 30 {
					heap, goroutines = h, g
				}
				if i > 30 && (float64(h) > 1.05*float64(heap) || g > goroutines) {
					t.Errorf("after 30 runs %d KiB and %d goroutines, after %d %d KiB and %d", heap>>10, goroutines, i, h>>10, g)
				}
			}
			if len(store.Transports.Open) != 0 {
				t.Errorf("%d transports are still registered", len(store.Transports.Open))
			}
		})
	}
}

// footprint is the bytes of live memory and the number of goroutines.
func footprint() (heap, goroutines uint64) {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, uint64(runtime.NumGoroutine())
}
