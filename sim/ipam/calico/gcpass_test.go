package calico

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	cerrors "github.com/projectcalico/calico/libcalico-go/lib/errors"

	"ipamsim/sim"
)

// A single pass releases the resources of a deleted node.
func TestPassCleansUpAfterANode(t *testing.T) {
	onBoth(t, func(_ context.Context, w *gcWorld) {
		w.cluster("10.64.75.0/24", "a", "b")
		for i := range 5 {
			w.run(fmt.Sprintf("a-%d", i), "a")
			w.vanish(fmt.Sprintf("a-%d", i))
		}
		w.run("b-0", "b")
		w.deleteNode("a")
		w.pass("pass-1")
		w.holds("10.64.75.64/26 of b holds 1 | b:10.64.75.64/26 | 1 handles")
		if nodes := w.calicoNodes(); nodes != "b" {
			t.Error("Calico nodes:", nodes)
		}
	})
}

// On an existing node a pass only records leaks and spare blocks; a pass after the grace period
// releases them.
func TestPassNotesThenReleases(t *testing.T) {
	onBoth(t, func(_ context.Context, w *gcWorld) {
		const noted = "10.64.75.0/26 of a holds 0, 10.64.75.192/26 of a holds 64 | a:10.64.75.0/26 a:10.64.75.192/26 | 64 handles"
		w.cluster("10.64.75.0/24", "a")
		for i := range 65 {
			w.run(fmt.Sprintf("a-%d", i), "a")
		}
		w.stop("a-64")
		w.vanish("a-0")
		w.pass("pass-1")
		w.holds(noted)
		time.Sleep(15 * time.Minute)
		w.pass("pass-2")
		w.holds("10.64.75.192/26 of a holds 63 | a:10.64.75.192/26 | 63 handles")
	})
}

// Two concurrent passes are two controllers. Both try to release the same addresses. The slower
// one may get an update conflict, because a released address has another sequence number. The
// next two passes still have their observations.
func TestTwoConcurrentPasses(t *testing.T) {
	onBoth(t, func(_ context.Context, w *gcWorld) {
		w.cluster("10.64.75.0/24", "a", "b")
		for i := range 5 {
			w.run(fmt.Sprintf("a-%d", i), "a")
			w.run(fmt.Sprintf("b-%d", i), "b")
			w.vanish(fmt.Sprintf("a-%d", i))
		}
		w.deleteNode("a")
		w.vanish("b-0")
		w.twoPasses("first")
		w.holds("10.64.75.64/26 of b holds 5 | b:10.64.75.64/26 | 5 handles")
		time.Sleep(16 * time.Minute)
		w.twoPasses("second")
		w.holds("10.64.75.64/26 of b holds 4 | b:10.64.75.64/26 | 4 handles")
	})
}

func (w *gcWorld) twoPasses(name string) {
	w.t.Helper()
	a, b := w.start(passName, name+"-1"), w.start(passName, name+"-2")
	<-a.Done()
	<-b.Done()
	for _, p := range []*sim.Actor{a, b} {
		if conflict := (cerrors.ErrorResourceUpdateConflict{}); !errors.As(p.Err(), &conflict) {
			w.must(p.Err())
		}
	}
}

// A pass that is killed at any of its messages loses its records, and leaves no address or block
// that the next passes could not release. This does not hold for handles:
// TestHandlesOutliveAKilledController.
func TestPassKilled(t *testing.T) {
	for _, ds := range datastores {
		t.Run(ds, func(t *testing.T) {
			for _, after := range []time.Duration{0, 2 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 45 * time.Millisecond} {
				gcPlay(t, gcRun{datastore: ds}, func(_ context.Context, w *gcWorld) {
					w.cluster("10.64.75.0/24", "a", "b")
					for i := range 5 {
						w.run(fmt.Sprintf("a-%d", i), "a")
						w.vanish(fmt.Sprintf("a-%d", i))
					}
					w.run("b-0", "b")
					w.run("b-1", "b")
					w.vanish("b-0")
					w.pass("pass-1")
					time.Sleep(16 * time.Minute)
					w.deleteNode("a")
					victim := w.start(passName, "pass-2")
					time.Sleep(after)
					if !w.Kill(victim.ID) {
						t.Error("it was done before", after)
					}
					w.pass("pass-3")
					if n := w.allocations(); n != 2 && n != 1 {
						t.Errorf("killed after %v: %s", after, w.record())
					}
					time.Sleep(16 * time.Minute)
					w.pass("pass-4")
					if r := w.record(); !strings.HasPrefix(r, "10.64.75.64/26 of b holds 1 | b:10.64.75.64/26 |") {
						t.Errorf("killed after %v: %s", after, r)
					}
				})
			}
		})
	}
}

// A pass whose reads fail returns an error and changes nothing.
func TestPassFails(t *testing.T) {
	for _, ds := range datastores {
		f := newFated(t, 0, 100, sim.FailBefore, "pass-1#", "LIST pods")
		f.armed.Store(true)
		gcPlay(t, gcRun{datastore: ds, options: f.budget(), strategy: f}, func(_ context.Context, w *gcWorld) {
			w.cluster("10.64.75.0/24", "a")
			w.run("a-0", "a")
			before := w.record()
			a := w.start(passName, "pass-1")
			<-a.Done()
			if a.Err() == nil {
				t.Error("a pass without pods succeeded")
			}
			w.holds(before)
		})
	}
}
