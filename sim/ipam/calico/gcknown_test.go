package calico

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	upstream "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim"
	"ipamsim/sim/ipam/calico/store"
)

// Known defects of Calico's garbage collector, on the real 3.31.0. Each story is the smallest that
// shows its defect. A test that fails here means that upstream has fixed the defect, or that the
// story no longer shows it.

// calico #12741: a watch of pods ends with 410 Gone while a pod is being deleted. The informer
// lists again and reports the deletion with a tombstone instead of the pod; the controller takes
// it for a pod and panics.
func TestTombstonePanics(t *testing.T) {
	for _, ds := range datastores {
		f := newFated(t, 0, 1, sim.Gone, "controller#", "EVENT DELETED pods")
		crashed := ""
		gcPlay(t, gcRun{datastore: ds, options: f.budget(), strategy: f}, func(_ context.Context, w *gcWorld) {
			w.Hooks.Panic = func(id sim.ActorID, v any, _ string) { crashed = fmt.Sprint(id, ": ", v) }
			w.cluster("10.64.75.0/24", "a")
			w.run("a-0", "a")
			c := w.start(controllerName, "controller")
			time.Sleep(time.Minute)
			f.armed.Store(true)
			w.stop("a-0")
			time.Sleep(time.Minute)
			if w.Alive(c.ID) {
				t.Error("it lives")
			}
		})
		if crashed != "controller: interface conversion: interface {} is cache.DeletedFinalStateUnknown, not *v1.Pod" {
			t.Error(crashed)
		}
	}
}

// calico #12257: the allocation of a pod names another node than the pod's, as a CNI configuration
// that survived the re-installation of a node causes it. The controller takes the pod for
// rescheduled and releases the address of a live pod after the grace period.
func TestStaleNodeNameFreesALivingPod(t *testing.T) {
	onBoth(t, func(_ context.Context, w *gcWorld) {
		w.cluster("10.64.75.0/24", "a", "b")
		w.start(controllerName, "controller")
		w.create("web-0", "b")
		ip := w.add("web-0", "a", 1, 0)[0] // the plugin on b believes that it is on a
		w.status("web-0", corev1.PodRunning, ip)
		took := w.when(time.Hour, func() bool { return w.holder(ip) == "" })
		if took < 15*time.Minute {
			t.Error("freed after", took)
		}
	})
}

// calico #5044 was fixed in 3.21: a handle with one address in use is never released. In 3.31.0
// this causes an endless loop: if Calico assigns two addresses to a pod and Kubernetes reports
// one, the other address stays confirmed as leaked forever and is never released, and "confirmed
// leaks still exist, scheduling another pass" starts the next scan immediately.
func TestHalfReportedDualStackSpins(t *testing.T) {
	for _, ds := range datastores {
		tr, _ := gcPlay(t, gcRun{datastore: ds}, func(_ context.Context, w *gcWorld) {
			w.cluster("10.64.75.0/24", "a")
			w.pool("six", "fd00:64:75::/112", 0)
			w.grace(time.Minute)
			w.start(controllerName, "controller")
			w.create("a-0", "a")
			w.status("a-0", corev1.PodRunning, w.add("a-0", "a", 1, 1)[0]) // the second one is not reported
			time.Sleep(2 * time.Minute)
			w.holds("10.64.75.192/26 of a holds 1, fd00:64:75::4980/122 of a holds 1 | a:10.64.75.192/26 a:fd00:64:75::4980/122 | 1 handles")
		})
		if n := asked(tr, 105*time.Second, "GET pods/default/a-0"); n < 950 {
			t.Errorf("%s: asked for the pod %d times in ten seconds", ds, n)
		}
	}
}

// calico #7839: a controller that dies after it has released an address in its block, but before
// it has decremented its handle, leaves the handle behind. No scan looks for such handles.
func TestHandlesOutliveAKilledController(t *testing.T) {
	for ds, handle := range map[string]string{store.Etcd: "/calico/ipam/v2/handle/", store.Kubernetes: "ipamhandles"} {
		f := newFated(t, 0, 1, sim.Crash, "controller-1#", handle)
		gcPlay(t, gcRun{datastore: ds, options: f.budget(), strategy: f}, func(_ context.Context, w *gcWorld) {
			w.cluster("10.64.75.0/24", "a", "b")
			w.run("a-0", "a")
			w.run("b-0", "b")
			first := w.start(controllerName, "controller-1")
			time.Sleep(time.Minute)
			f.armed.Store(true)
			w.vanish("a-0")
			w.deleteNode("a")
			<-first.Done()
			w.start(controllerName, "controller-2")
			time.Sleep(4 * time.Hour)
			w.holds("10.64.75.64/26 of b holds 1 | b:10.64.75.64/26 | 2 handles")
		})
	}
}

// tunnel is calico-node's own address on a node.
func (w *gcWorld) tunnel(node string) string {
	w.t.Helper()
	h := "vxlan-tunnel-addr-" + node
	v4, _, err := w.calico.IPAM().AutoAssign(context.Background(), upstream.AutoAssignArgs{
		Num4: 1, HandleID: &h, Hostname: node, IntendedUse: apiv3.IPPoolAllowedUseTunnel,
		Attrs: map[string]string{upstream.AttributeNode: node, upstream.AttributeType: upstream.AttributeTypeVXLAN},
	})
	w.must(err)
	return v4.IPs[0].IP.String()
}

// calico #8643, #7839: an autoscaler removes a node without pods but with a tunnel address. The
// controller is informed twice, by its informer and by its data feed. If it scans before the
// event of the feed, it still knows the Calico node, takes the tunnel address for "resurrected"
// and finds the block "not empty". Since nothing else happens on that node, its next scan is the
// periodic one. Which event comes first is random, on both datastores.
func TestDeletedNodeWithATunnelAddress(t *testing.T) {
	for _, ds := range datastores {
		soon, late := 0, 0
		for seed := range uint64(20) {
			gcPlay(t, gcRun{datastore: ds, seed: seed}, func(_ context.Context, w *gcWorld) {
				w.cluster("10.64.75.0/24", "a", "b")
				w.tunnel("a")
				w.start(controllerName, "controller")
				time.Sleep(time.Minute)
				w.deleteNode("a")
				switch took := w.when(time.Hour, func() bool { return w.blocks() == 0 }); {
				case took >= 0 && took < 5*time.Second:
					soon++
				case took > 6*time.Minute && took < 7*time.Minute:
					late++
				default:
					t.Errorf("%s: seed %d: released after %v", ds, seed, took)
				}
			})
		}
		if t.Logf("%s: %d soon, %d late", ds, soon, late); soon == 0 || late == 0 {
			t.Error("it is not random")
		}
	}
}

// calico #12838: the controller reads the sequence number of an allocation when it first sees it,
// and never again. Here its watch of blocks breaks. Before it can list again (the API server
// recovers slowly), the node's tunnel address is released and assigned to the same handle again,
// because it is the only free address of its block. The number is then stale forever: when the
// node is removed, the release of that address fails with "update conflict", and so does every
// scan. What the scan did before the failure depends on the order of its maps: a's pods, in the
// same block, may keep their addresses, and the empty block of another deleted node may stay
// (#5218, #7987). A restart fixes it.
func TestStaleSequenceNumberStopsCollection(t *testing.T) {
	t.Run(store.Kubernetes, func(t *testing.T) {
		gone := newFated(t, 0, 1, sim.Gone, "controller-1#", "ipamblocks")
		slow := &stalled{Strategy: gone, match: []string{"controller-1#", "LIST ipamblocks"}}
		gcPlay(t, gcRun{datastore: store.Kubernetes, options: gone.budget(), strategy: slow}, func(ctx context.Context, w *gcWorld) {
			w.staleNumber("10.64.75.12/30 of a holds 4, 10.64.75.4/30 of b holds 2, 10.64.75.8/30 of c holds 0 | a:10.64.75.12/30 b:10.64.75.4/30 c:10.64.75.8/30 | 6 handles", func() {
				gone.armed.Store(true)
				slow.on.Store(true)
				w.run("b-1", "b")
				time.Sleep(time.Second)
			}, func() { slow.on.Store(false) })
		})
	})
	// With etcdv3 a watch lists again only after a compaction: the controller is paused until
	// there are more events than its buffers hold (16 and 100), and etcd has compacted the
	// following ones.
	t.Run(store.Etcd, func(t *testing.T) {
		gcPlay(t, gcRun{datastore: store.Etcd}, func(ctx context.Context, w *gcWorld) {
			w.staleNumber("10.64.75.12/30 of none holds 4, 10.64.75.4/30 of b holds 1 | b:10.64.75.4/30 | 5 handles", func() {
				w.Hold("controller-1")
				for i := range 120 {
					w.run(fmt.Sprintf("b-%d", i+1), "b")
					w.stop(fmt.Sprintf("b-%d", i+1))
				}
			}, func() {
				for i := range 15 {
					time.Sleep(time.Minute)
					w.run(fmt.Sprintf("b-%d", i+200), "b")
					w.stop(fmt.Sprintf("b-%d", i+200))
				}
				w.Release("controller-1")
			})
		})
	})
	// Or the history is compacted right then, which the schedule may choose.
	t.Run(store.Etcd+" compacted", func(t *testing.T) {
		gone := newFated(t, 0, 1, sim.Gone, "controller-1#", "HEAR /calico/ipam/v2/assignment")
		slow := &stalled{Strategy: gone, match: []string{"controller-1#", "List /calico/ipam/v2/assignment"}}
		gcPlay(t, gcRun{datastore: store.Etcd, options: gone.budget(), strategy: slow}, func(ctx context.Context, w *gcWorld) {
			w.staleNumber("10.64.75.12/30 of none holds 4, 10.64.75.4/30 of b holds 2 | b:10.64.75.4/30 | 6 handles", func() {
				gone.armed.Store(true)
				slow.on.Store(true)
				w.run("b-1", "b")
				time.Sleep(10 * time.Second) // five watches from the lost revision fail before it lists
			}, func() { slow.on.Store(false) })
		})
	})
}

// staleNumber runs the story of #12838: between deaf and hears the controller gets no events of
// blocks; want is the record two hours after the nodes were removed.
func (w *gcWorld) staleNumber(want string, deaf, hears func()) {
	w.cluster("10.64.75.0/28", "a", "b", "c")
	old := w.tunnel("a")
	for i := range 3 {
		w.run(fmt.Sprintf("a-%d", i), "a")
	}
	w.run("b-0", "b")
	w.run("c-0", "c")
	c := w.start(controllerName, "controller-1")
	time.Sleep(time.Minute)

	deaf()
	w.must(w.calico.IPAM().ReleaseByHandle(context.Background(), "vxlan-tunnel-addr-a"))
	if ip := w.tunnel("a"); ip != old {
		w.t.Errorf("the tunnel had %s and got %s", old, ip)
	}
	hears()
	time.Sleep(time.Minute)

	for i := range 3 {
		w.vanish(fmt.Sprintf("a-%d", i))
	}
	w.deleteNode("a")
	w.vanish("c-0")
	w.deleteNode("c")
	time.Sleep(2 * time.Hour)
	w.holds(want)
	w.Kill(c.ID)
	w.start(controllerName, "controller-2")
	time.Sleep(time.Hour)
	if r := w.record(); strings.Contains(r, "of a") || strings.Contains(r, "of c") || strings.Contains(r, "of none") {
		w.t.Error("after a restart:", r)
	}
}
