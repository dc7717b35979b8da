package calico

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/longtest"
)

// onBoth plays a story on either datastore.
func onBoth(t *testing.T, story func(context.Context, *gcWorld)) {
	for _, ds := range datastores {
		t.Run(ds, func(t *testing.T) { gcPlay(t, gcRun{datastore: ds}, story) })
	}
}

// A pod that is deleted by force, without CNI DEL, leaks its address. With upstream's grace
// period of 15 minutes the controller scans every 7.5 minutes. It is informed of the deletion
// immediately and records the leak. It releases the address in the first scan more than 15
// minutes later, 22.5 minutes after its start.
func TestControllerReleasesALeak(t *testing.T) {
	onBoth(t, func(_ context.Context, w *gcWorld) {
		w.cluster("10.64.75.0/24", "a", "b")
		for i := range 3 {
			w.run(fmt.Sprintf("a-%d", i), "a")
		}
		w.run("b-0", "b")
		w.start(controllerName, "controller")
		time.Sleep(2 * time.Minute)
		w.vanish("a-1")
		if took := w.when(time.Hour, func() bool { return w.allocations() == 3 }); took < 20*time.Minute || took > 21*time.Minute {
			t.Error("released after", took)
		}
		w.holds("10.64.75.192/26 of a holds 2, 10.64.75.64/26 of b holds 1 | a:10.64.75.192/26 b:10.64.75.64/26 | 3 handles")
	})
}

// The grace period is KubeControllersConfiguration's. A change of it ends the
// process, which is how a real one takes it in; the next one looks every half
// minute.
func TestControllerTakesItsGracePeriod(t *testing.T) {
	onBoth(t, func(ctx context.Context, w *gcWorld) {
		w.cluster("10.64.75.0/24", "a")
		w.run("a-0", "a")
		first := w.start(controllerName, "controller-1")
		time.Sleep(time.Minute)
		w.grace(time.Minute)
		<-first.Done()
		if err := first.Err(); err != errConfigChanged {
			t.Error(err)
		}
		w.start(controllerName, "controller-2")
		time.Sleep(time.Minute)
		w.vanish("a-0")
		if took := w.when(time.Hour, func() bool { return w.allocations() == 0 }); took < time.Minute || took > 2*time.Minute {
			t.Error("released after", took)
		}
	})
}

// A node that is deleted with all its pods loses its allocations and affinities at
// once; with etcdv3 the controller also deletes the Calico node.
func TestControllerCleansUpAfterANode(t *testing.T) {
	onBoth(t, func(_ context.Context, w *gcWorld) {
		w.cluster("10.64.75.0/24", "a", "b")
		for i := range 5 {
			w.run(fmt.Sprintf("a-%d", i), "a")
		}
		w.run("b-0", "b")
		w.start(controllerName, "controller")
		time.Sleep(2 * time.Minute)
		for i := range 5 {
			w.vanish(fmt.Sprintf("a-%d", i))
		}
		w.deleteNode("a")
		if took := w.when(time.Hour, func() bool { return w.allocations() == 1 }); took < 0 || took > 10*time.Second {
			t.Error("released after", took)
		}
		time.Sleep(time.Minute)
		w.holds("10.64.75.64/26 of b holds 1 | b:10.64.75.64/26 | 1 handles")
		if nodes := w.calicoNodes(); nodes != "b" {
			t.Error("Calico nodes:", nodes)
		}
	})
}

// A pod that exists keeps its address, whatever happens to its node. With etcdv3 the block loses
// its owner, because that is a part of the deletion of a Calico node
// (libcalico-go/lib/clientv3/node.go, Delete).
func TestControllerKeepsThePodsOfADeletedNode(t *testing.T) {
	onBoth(t, func(_ context.Context, w *gcWorld) {
		w.cluster("10.64.75.0/24", "a", "b")
		w.run("a-0", "a")
		w.run("a-1", "a")
		w.start(controllerName, "controller")
		time.Sleep(2 * time.Minute)
		w.vanish("a-0")
		w.deleteNode("a")
		time.Sleep(time.Hour)
		if w.in.env.Datastore == store.Etcd {
			w.holds("10.64.75.192/26 of none holds 1 |  | 1 handles")
		} else {
			w.holds("10.64.75.192/26 of a holds 1 | a:10.64.75.192/26 | 1 handles")
		}
	})
}

// A node's second block that is empty for the whole grace period is released; its
// last one never is.
func TestControllerReleasesASpareBlock(t *testing.T) {
	onBoth(t, func(_ context.Context, w *gcWorld) {
		w.cluster("10.64.75.0/24", "a")
		for i := range 66 {
			w.run(fmt.Sprintf("a-%d", i), "a")
		}
		w.start(controllerName, "controller")
		time.Sleep(2 * time.Minute)
		w.holds("10.64.75.0/26 of a holds 2, 10.64.75.192/26 of a holds 64 | a:10.64.75.0/26 a:10.64.75.192/26 | 66 handles")
		w.stop("a-64")
		w.stop("a-65")
		if took := w.when(time.Hour, func() bool { return w.blocks() == 1 }); took < 15*time.Minute || took > 23*time.Minute {
			t.Error("released after", took)
		}
		for i := range 64 {
			w.stop(fmt.Sprintf("a-%d", i))
		}
		time.Sleep(time.Hour)
		w.holds("10.64.75.192/26 of a holds 0 | a:10.64.75.192/26 | 0 handles")
	})
}

// An hour of pods that are created and deleted on two nodes, with occasional leaks, under one
// controller and under two: after every step of the churn each live pod still has its address,
// and in the end the others have left nothing behind.
func TestControllersLeaveTheLivingAlone(t *testing.T) {
	for _, controllers := range []int{1, 2} {
		t.Run(fmt.Sprint(controllers), func(t *testing.T) {
			onBoth(t, func(_ context.Context, w *gcWorld) {
				w.cluster("10.64.75.0/24", "a", "b")
				for i := range controllers {
					w.start(controllerName, fmt.Sprint("controller-", i))
				}
				live, leaked := w.churn(60, time.Minute)
				time.Sleep(30 * time.Minute)
				if n := w.allocations(); n != len(live) || leaked == 0 {
					t.Errorf("%d allocations for %d pods after %d leaks: %s", n, len(live), leaked, w.record())
				}
			})
		})
	}
}

// churn starts and stops pods for a number of rounds, two thirds of them in order and every fifth
// by force, and checks after each round that the live pods have their addresses. It returns the
// addresses of the live pods and the number of leaks.
func (w *gcWorld) churn(rounds int, pause time.Duration) (live map[string]string, leaked int) {
	live = map[string]string{}
	for i := range rounds {
		node := []string{"a", "b"}[i%2]
		name := fmt.Sprintf("%s-%d", node, i)
		live[name] = w.run(name, node)
		if i%3 > 0 {
			old := fmt.Sprintf("%s-%d", []string{"a", "b"}[(i/2)%2], i/2)
			if _, there := live[old]; there {
				delete(live, old)
				if i%5 == 0 {
					w.vanish(old)
					leaked++
				} else {
					w.stop(old)
				}
			}
		}
		time.Sleep(pause)
		for pod, ip := range live {
			if h := w.holder(ip); h != handleOf(pod) {
				w.t.Errorf("round %d: %s of %s is held by %q", i, ip, pod, h)
			}
		}
	}
	return live, leaked
}

// Killed at any moment, the controller leaves no goroutine behind (the run would
// not end), and the next one finishes its work.
func TestControllerKilled(t *testing.T) {
	for _, after := range []time.Duration{0, 3 * time.Millisecond, 10 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond, time.Second, time.Minute} {
		t.Run(after.String(), func(t *testing.T) {
			onBoth(t, func(_ context.Context, w *gcWorld) {
				w.cluster("10.64.75.0/24", "a", "b")
				for i := range 10 {
					w.run(fmt.Sprintf("a-%d", i), "a")
				}
				w.run("b-0", "b")
				first := w.start(controllerName, "controller-1")
				time.Sleep(after)
				for i := range 10 {
					w.vanish(fmt.Sprintf("a-%d", i))
				}
				w.deleteNode("a")
				time.Sleep(1003 * time.Millisecond) // it is in the middle of the release
				w.Kill(first.ID)
				w.start(controllerName, "controller-2")
				time.Sleep(time.Minute)
				w.holds("10.64.75.64/26 of b holds 1 | b:10.64.75.64/26 | 1 handles")
			})
		})
	}
}

// A controller that is restarted every ten minutes never observes a leak for the grace period, and
// never releases it: its observations are lost with the process.
func TestControllerRestartedTooOften(t *testing.T) {
	onBoth(t, func(_ context.Context, w *gcWorld) {
		w.cluster("10.64.75.0/24", "a")
		w.run("a-0", "a")
		w.vanish("a-0")
		for i := range 18 {
			c := w.start(controllerName, fmt.Sprint("controller-", i))
			time.Sleep(10 * time.Minute)
			w.Kill(c.ID)
		}
		w.holds("10.64.75.192/26 of a holds 1 | a:10.64.75.192/26 | 1 handles")
	})
}

// Every event of a watch takes five seconds, one after the other: pods come and
// go, and the controller acts late, but on nothing that is alive.
func TestControllerBehindASlowFeed(t *testing.T) {
	for _, ds := range datastores {
		t.Run(ds, func(t *testing.T) {
			o := sim.Options{Service: map[string]time.Duration{"watch": 5 * time.Second}}
			gcPlay(t, gcRun{datastore: ds, options: o}, func(_ context.Context, w *gcWorld) {
				w.cluster("10.64.75.0/24", "a", "b")
				w.start(controllerName, "controller")
				live, _ := w.churn(40, time.Minute)
				time.Sleep(time.Hour)
				if n := w.allocations(); n != len(live) {
					t.Errorf("%d allocations for %d pods: %s", n, len(live), w.record())
				}
			})
		})
	}
}

// gcStory is a story for tests of determinism: leaks, a node that is removed, and two
// controllers. One controller is killed in the middle.
func gcStory(t *testing.T, ds string, seed uint64) (*sim.Trace, string) {
	return gcPlay(t, gcRun{datastore: ds, seed: seed}, func(_ context.Context, w *gcWorld) {
		w.cluster("10.64.75.0/24", "a", "b")
		for i := range 70 {
			w.create(fmt.Sprintf("a-%d", i), "a")
			w.status(fmt.Sprintf("a-%d", i), corev1.PodRunning, w.add(fmt.Sprintf("a-%d", i), "a", 1, 0)...)
		}
		for i := range 5 {
			w.run(fmt.Sprintf("b-%d", i), "b")
		}
		first := w.start(controllerName, "controller-1")
		w.start(controllerName, "controller-2")
		time.Sleep(2 * time.Minute)
		for i := 0; i < 70; i += 2 {
			w.vanish(fmt.Sprintf("a-%d", i))
		}
		time.Sleep(10 * time.Minute)
		for i := range 5 {
			w.vanish(fmt.Sprintf("b-%d", i))
		}
		w.deleteNode("b")
		time.Sleep(1004 * time.Millisecond)
		w.Kill(first.ID)
		w.start(controllerName, "controller-3")
		time.Sleep(40 * time.Minute)
		w.holds("10.64.75.0/26 of a holds 3, 10.64.75.192/26 of a holds 32 | a:10.64.75.0/26 a:10.64.75.192/26 | 35 handles")
	})
}

func gcDigest(t *testing.T, ds string, seed uint64) string {
	tr, stored := gcStory(t, ds, seed)
	return fmt.Sprintf("%x %s", tr.Digest(), stored)
}

const gcChild = "IPAMSIM_GC_CHILD"

// TestGCDigestChild is what TestControllersRepeat runs in other processes.
func TestGCDigestChild(t *testing.T) {
	if os.Getenv(gcChild) == "" {
		t.Skip("only as a child of TestControllersRepeat")
	}
	for _, ds := range datastores {
		for seed := range uint64(2) {
			fmt.Printf("DIGEST %s %d %s\n", ds, seed, gcDigest(t, ds, seed))
		}
	}
}

// One seed gives one run: the same messages in the same order with the same
// answers, and the same store, twice in one process and in others.
func TestControllersRepeat(t *testing.T) {
	longtest.Skip(t)
	if !hermetic.Enabled {
		t.Skip("SKIPPED: on the stock runtime runs need not repeat")
	}
	line := regexp.MustCompile(`DIGEST (\S+) (\d+) (.+)`)
	want := map[string]string{}
	for _, ds := range datastores {
		want[ds+" 0"] = gcDigest(t, ds, 0)
		if again := gcDigest(t, ds, 0); again != want[ds+" 0"] {
			t.Errorf("%s: %s, then %s", ds, want[ds+" 0"], again)
		}
	}
	for _, procs := range []string{"1", "4"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestGCDigestChild$")
		cmd.Env = append(os.Environ(), gcChild+"=1", "GOMAXPROCS="+procs)
		out, err := cmd.CombinedOutput()
		found := line.FindAllStringSubmatch(string(out), -1)
		if err != nil || len(found) != 4 {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, f := range found {
			run := f[1] + " " + f[2]
			if want[run] == "" {
				want[run] = f[3]
			}
			if f[3] != want[run] {
				t.Errorf("%s with GOMAXPROCS=%s: %s, elsewhere %s", run, procs, f[3], want[run])
			}
		}
	}
	if want[store.Etcd+" 0"] == want[store.Etcd+" 1"] {
		t.Error("the seed makes no difference")
	}
}
