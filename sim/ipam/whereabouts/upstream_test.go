package whereabouts_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/k8snetworkplumbingwg/whereabouts/pkg/config"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// Unexpected behaviour of Whereabouts v0.9.4, each as the shortest history that shows it. A
// failure here after a new version is good news: the scenario that shows the behaviour must then
// change, too.

func serial(t *testing.T, networks map[string]string, story func(*world)) {
	t.Helper()
	simulate(t, server(t), strategy.NewSerial(), sim.Options{}, networks, func(_ context.Context, w *world) { story(w) })
}

func (w *world) edit(resource, name, patch string) {
	w.t.Helper()
	gvr := poolsGVR
	gvr.Resource = resource
	if _, err := w.api.Resource(gvr).Namespace("kube-system").Patch(context.Background(), name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		w.t.Error(err)
	}
	time.Sleep(time.Millisecond)
}

func (w *world) reservations() string {
	var out []string
	for _, r := range w.snapshot().Reservations {
		out = append(out, r.Addr.String()+" "+r.Pod.Name)
	}
	return strings.Join(out, ", ")
}

// iploop.go:224 turns "blue-10.0.0.1" into "blue:10.0.0.1", which is on no pod: a
// pass deletes every reservation of a network with a name, and the overlapping
// range of that network then hands the address out again.
func TestNamedReservationsAreDeleted(t *testing.T) {
	serial(t, map[string]string{"net": `{"type":"whereabouts","range":"10.0.0.0/24","network_name":"blue"}`, "part": `{"type":"whereabouts","range":"10.0.0.0/28","network_name":"blue"}`}, func(w *world) {
		wait(w.add(call(w, "live", "a", "net", "net1")))
		w.pod("live", "a", "net", "10.0.0.1")
		before := w.reservations()
		wait(w.background("ip-reconciler", ""))
		if before != "10.0.0.1 live" || w.reservations() != "" || w.claims() != "10.0.0.1 live" {
			t.Errorf("reservations %q, then %q; claims %q", before, w.reservations(), w.claims())
		}
		wait(w.add(call(w, "other", "a", "part", "net1")))
		if got := w.addrs("other", "net1"); got != "10.0.0.1/28" {
			t.Errorf("the overlapping range gives %s", got)
		}
	})
}

// ipam.go:668 returns at the first range without an allocation of the container:
// those of the ranges behind it stay.
func TestDelStopsAtTheFirstMissingRange(t *testing.T) {
	serial(t, map[string]string{"net": `{"type":"whereabouts","ipRanges":[{"range":"10.0.0.0/24"},{"range":"fd00::/64"}]}`}, func(w *world) {
		wait(w.add(call(w, "p", "a", "net", "net1")))
		w.edit("ippools", "10.0.0.0-24", `[{"op":"remove","path":"/spec/allocations/1"}]`)
		wait(w.del(call(w, "p", "a", "net", "net1")))
		if w.claims() != "fd00::1 p" || w.reservations() != "10.0.0.1 p, fd00::1 p" {
			t.Errorf("claims %q, reservations %q", w.claims(), w.reservations())
		}
	})
}

// ipam.go:572 keeps skipOverlappingRangeUpdate from one range to the next: an ADD
// that is repeated after a crash between two ranges never reserves the second.
func TestRepeatedAddSkipsTheSecondReservation(t *testing.T) {
	k := &killer{at: 11, Serial: strategy.NewSerial()} // behind the first range's POST
	simulate(t, server(t), k, sim.Options{Faults: sim.Budget{Allowed: sim.Of(sim.Crash), Max: 1}}, map[string]string{"net": `{"type":"whereabouts","ipRanges":[{"range":"10.0.0.0/24"},{"range":"fd00::/64"}]}`}, func(_ context.Context, w *world) {
		wait(w.add(call(w, "victim", "a", "net", "net1")))
		if w.claims() != "10.0.0.1 victim" || w.reservations() != "10.0.0.1 victim" {
			t.Fatalf("killed elsewhere: claims %q, reservations %q", w.claims(), w.reservations())
		}
		time.Sleep(5 * time.Second)
		wait(w.add(call(w, "victim", "a", "net", "net1")))
		if got := w.addrs("victim", "net1"); got != "10.0.0.1/24 fd00::1/64" || w.reservations() != "10.0.0.1 victim" {
			t.Errorf("%s, reservations %q", got, w.reservations())
		}
	})
}

// ipam.go:653 retries when the address is reserved by another pod, but allocate.go:32 returns the
// pod's own allocation every time: such a pod never starts again, with 253 addresses free.
func TestOwnClaimReservedByAnother(t *testing.T) {
	serial(t, map[string]string{"net": plain}, func(w *world) {
		wait(w.add(call(w, "p", "a", "net", "net1")))
		w.edit("overlappingrangeipreservations", "10.0.0.1", `[{"op":"replace","path":"/spec/podref","value":"default/other"}]`)
		wait(w.add(call(w, "p", "a", "net", "net1")))
		if got := w.addrs("p", "net1"); !strings.Contains(got, "would exceed context deadline") && !strings.Contains(got, "context deadline exceeded") {
			t.Error(got)
		}
	})
}

// iploop.go:143 takes a pod that could not be read for a pod that is gone: one
// failed request about a Pending pod frees its address.
func TestFailedRefetchFrees(t *testing.T) {
	f := &failer{Serial: strategy.NewSerial(), key: "GET pods/default/starting"}
	simulate(t, server(t), f, sim.Options{Faults: sim.Budget{Allowed: sim.Of(sim.FailBefore), Max: 1}}, map[string]string{"net": plain}, func(_ context.Context, w *world) {
		wait(w.add(call(w, "starting", "a", "net", "net1")))
		w.pod("starting", "a", "net") // no address in its status yet
		wait(w.background("ip-reconciler", ""))
		if w.claims() != "" || w.reservations() != "10.0.0.1 starting" && w.reservations() != "" {
			t.Errorf("claims %q, reservations %q", w.claims(), w.reservations())
		}
	})
}

// failer fails the first message with a key.
type failer struct {
	*strategy.Serial
	key string
}

func (f *failer) Pick(step int, enabled []sim.Choice) int {
	for i, c := range enabled {
		if c.Outcome == sim.FailBefore && c.Op.Key == f.key && f.key != "" {
			return i
		}
	}
	return f.Serial.Pick(step, enabled)
}

// ipam.go:615 builds the range of a node's slice without its excludes.
func TestSlicesIgnoreExcludes(t *testing.T) {
	simulate(t, server(t), timed(t, 1), sim.Options{Seed: 1}, map[string]string{"net": `{"type":"whereabouts","range":"10.0.0.0/24","node_slice_size":"/26","exclude":["10.0.0.0/29"]}`}, func(_ context.Context, w *world) {
		w.node("a")
		w.background("node-slice-controller", "")
		time.Sleep(5 * time.Second)
		wait(w.add(call(w, "p", "a", "net", "net1")))
		if got := w.addrs("p", "net1"); got != "10.0.0.1/24" {
			t.Error(got)
		}
	})
}

// pod.go:212 looks for a pool without the node's name: the control loop knows no
// node slices, and drops the pod.
func TestControlLoopKnowsNoSlices(t *testing.T) {
	simulate(t, server(t), timed(t, 1), sim.Options{Seed: 1}, map[string]string{"net": `{"type":"whereabouts","range":"10.0.0.0/24","node_slice_size":"/26"}`}, func(_ context.Context, w *world) {
		w.node("a")
		w.background("node-slice-controller", "")
		w.background("pod-control-loop", "a")
		time.Sleep(5 * time.Second)
		wait(w.add(call(w, "p", "a", "net", "net1")))
		w.pod("p", "a", "net", "10.0.0.1")
		time.Sleep(5 * time.Second)
		w.deletePod("p")
		time.Sleep(time.Minute)
		if w.claims() != "10.0.0.1 p" {
			t.Error(w.claims())
		}
	})
}

// A node's object is deleted and another node comes: the slice changes hands,
// under a pool of another name, while the first node's pods live. Only overlap
// protection is left between them and a duplicate.
func TestSliceChangesHands(t *testing.T) {
	simulate(t, server(t), timed(t, 1), sim.Options{Seed: 1}, map[string]string{"net": `{"type":"whereabouts","range":"10.0.0.0/24","node_slice_size":"/26","enable_overlapping_ranges":false}`}, func(_ context.Context, w *world) {
		w.node("a")
		w.background("node-slice-controller", "")
		time.Sleep(5 * time.Second)
		wait(w.add(call(w, "p", "a", "net", "net1")))
		if err := w.api.Resource(nodesGVR).Delete(context.Background(), "a", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		time.Sleep(5 * time.Second)
		w.node("b")
		time.Sleep(5 * time.Second)
		wait(w.add(call(w, "q", "b", "net", "net1")))
		if w.addrs("p", "net1") != w.addrs("q", "net1") || w.claims() != "10.0.0.1 p, 10.0.0.1 q" {
			t.Errorf("%s and %s; claims %q", w.addrs("p", "net1"), w.addrs("q", "net1"), w.claims())
		}
	})
}

// controller.go:585 copies kind and version of an owner from an object that has
// neither if it came by a watch: a second network of the same network_name, made
// while the controller runs, can never be written down.
func TestSecondOwnerOfSlices(t *testing.T) {
	const blue = `{"type":"whereabouts","range":"10.0.0.0/24","node_slice_size":"/26","network_name":"blue"}`
	simulate(t, server(t), timed(t, 1), sim.Options{Seed: 1}, map[string]string{"net": blue}, func(_ context.Context, w *world) {
		w.node("a")
		w.background("node-slice-controller", "")
		time.Sleep(5 * time.Second)
		w.create(nadsGVR, map[string]any{"metadata": meta("too"), "spec": map[string]any{"config": string(w.networks["net"])}})
		time.Sleep(time.Minute)
		gvr := poolsGVR
		gvr.Resource = "nodeslicepools"
		o, err := w.api.Resource(gvr).Namespace("kube-system").Get(context.Background(), "blue", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if owners, _, _ := unstructured.NestedSlice(o.Object, "metadata", "ownerReferences"); len(owners) != 1 {
			t.Errorf("%v", owners)
		}
		refused := 0
		for _, s := range w.Trace().Steps {
			if s.Note == "422 Invalid" && strings.HasPrefix(s.Choice.Op.Key, "PUT nodeslicepools") {
				refused++
			}
		}
		if refused < 5 {
			t.Errorf("refused %d times", refused)
		}
	})
}

// config.go:321 takes the first plugin of a configuration without a type and
// without plugins: one such network anywhere in the cluster crashes the
// node-slice controller (controller.go:531 reads them all).
func TestConfigurationWithoutPluginPanics(t *testing.T) {
	for _, in := range []string{`{}`, `{"name":"x","plugins":[]}`, `{"plugins":[null]}`} {
		func() {
			defer func() {
				if v := recover(); v == nil {
					t.Errorf("%s: no panic", in)
				}
			}()
			_, err := config.LoadIPAMConfiguration([]byte(in), "")
			t.Log(fmt.Sprint(err))
		}()
	}
}

// ipam.go:425 names the holder of the lease after the pod: two plugins of one pod
// (a repeated ADD while the first still runs, an ADD and the control loop) hold it
// together, and the first to release it lets a third one in.
func TestLeaseIsSharedWithinAPod(t *testing.T) {
	together := func(pods ...string) (shared bool) {
		for seed := range uint64(5) {
			tr := simulate(t, server(t), timed(t, seed), sim.Options{Seed: seed}, map[string]string{"net": plain}, func(_ context.Context, w *world) {
				var all []*sim.Actor
				for i, p := range pods {
					all = append(all, w.add(call(w, p, "a", "net", fmt.Sprint("net", i))))
				}
				wait(all...)
			})
			// A plugin works in the pools between its LIST and its last PUT of the lease.
			last := map[sim.ActorID]int{}
			for i, s := range tr.Steps {
				last[s.Choice.Op.Actor] = i
			}
			begun := map[sim.ActorID]bool{}
			for i, s := range tr.Steps {
				if strings.HasPrefix(s.Choice.Op.Key, "LIST ippools") {
					for a := range begun {
						shared = shared || last[a] > i
					}
					begun[s.Choice.Op.Actor] = true
				}
			}
		}
		return shared
	}
	if together("p", "q", "r") {
		t.Error("two pods hold the lease together")
	}
	if !together("p", "p", "p") {
		t.Error("nothing is shared any more")
	}
}
