package calico

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	simmodel "ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
)

// These stories show behaviour of the real 3.31.0 that was found here. No upstream issue
// about it is known to us.

// A Node object is deleted by mistake, and the kubelet registers it again five seconds later. A
// pod that started just before keeps running, but the controller does not know it yet: its watch
// of pods is slower than its watch of nodes. For a deleted node the controller trusts its own
// cache and waits for no grace period. So it releases the address of a live pod, and the next pod
// gets it.
func TestLaggingCacheFreesALivingPod(t *testing.T) {
	for _, ds := range datastores {
		slow := newStalled(t, 0, "controller#", "EVENT", "pods")
		gcPlay(t, gcRun{datastore: ds, strategy: slow}, func(_ context.Context, w *gcWorld) {
			w.cluster("10.64.75.0/24", "a", "b")
			w.run("a-0", "a")
			w.start(controllerName, "controller")
			time.Sleep(time.Minute)
			slow.on.Store(true)
			ip := w.run("a-1", "a")
			w.deleteNode("a")
			time.Sleep(5 * time.Second)
			w.node("a")
			slow.on.Store(false)
			if h := w.holder(ip); h != "" {
				t.Errorf("%s: %s of the living a-1 is held by %s", ds, ip, h)
			}
		})
	}
}

// dualStack is a cluster whose node a has a pod with two addresses.
func (w *gcWorld) dualStack() {
	w.cluster("10.64.75.0/24", "a", "b")
	w.pool("six", "fd00:64:75::/112", 0)
	w.create("a-0", "a")
	w.status("a-0", corev1.PodRunning, w.add("a-0", "a", 1, 1)...)
}

// A node keeps one empty block of any family: of a dual-stack node without pods either the IPv4 or
// the IPv6 block is released after the grace period.
func TestSpareBlockOfTheOtherFamily(t *testing.T) {
	onBoth(t, func(_ context.Context, w *gcWorld) {
		w.dualStack()
		w.start(controllerName, "controller")
		time.Sleep(time.Minute)
		w.stop("a-0")
		w.holds("10.64.75.192/26 of a holds 0, fd00:64:75::4980/122 of a holds 0 | a:10.64.75.192/26 a:fd00:64:75::4980/122 | 0 handles")
		if took := w.when(time.Hour, func() bool { return w.blocks() == 1 }); took < 15*time.Minute {
			t.Error("released after", took, w.record())
		}
	})
}

// An operator deletes the IPv4 block of a dual-stack pod (the repair of seeds/000), and the pod
// dies without CNI DEL. The controller never forgets that the handle had an IPv4 address, which no
// scan will confirm as leaked. So it never releases the IPv6 address, and keeps trying with a
// hundred requests a second.
func TestDeletedBlockHidesALeak(t *testing.T) {
	for _, ds := range datastores {
		tr, _ := gcPlay(t, gcRun{datastore: ds}, func(ctx context.Context, w *gcWorld) {
			w.dualStack()
			w.grace(time.Minute)
			w.start(controllerName, "controller")
			time.Sleep(time.Minute)
			be := store.Backend(w.calico)
			block, err := be.Get(ctx, model.BlockKey{CIDR: cnet.MustParseCIDR("10.64.75.192/26")}, "")
			w.must(err)
			_, err = be.DeleteKVP(ctx, block)
			w.must(err)
			time.Sleep(time.Minute)
			w.vanish("a-0")
			time.Sleep(105 * time.Second)
			w.holds("fd00:64:75::4980/122 of a holds 1 | a:10.64.75.192/26 a:fd00:64:75::4980/122 | 1 handles")
		})
		if n := asked(tr, 215*time.Second, "GET pods/default/a-0"); n < 950 {
			t.Errorf("%s: asked for the pod %d times in ten seconds", ds, n)
		}
	}
}

// asked is how many such messages the controller sent in the ten seconds from at on.
func asked(tr *sim.Trace, at time.Duration, key string) (n int) {
	for _, s := range tr.Steps {
		if s.At >= at && s.At < at+10*time.Second && mentions(s.Choice.Op, []string{"controller#", key}) {
			n++
		}
	}
	return n
}

// Upstream's manifests enable the node controller by the environment, and a stored
// KubeControllersConfiguration then need not mention it. Without it there, there
// is no grace period, not even the default of 15 minutes: nothing leaked on a
// living node is ever released.
func TestConfigurationWithoutNodeController(t *testing.T) {
	onBoth(t, func(ctx context.Context, w *gcWorld) {
		w.cluster("10.64.75.0/24", "a", "b")
		k := apiv3.NewKubeControllersConfiguration()
		k.Name = "default"
		k.Spec.HealthChecks = apiv3.Enabled
		_, err := w.calico.KubeControllersConfiguration().Create(ctx, k, options.SetOptions{})
		w.must(err)
		w.start(controllerName, "controller")
		w.run("a-0", "a")
		time.Sleep(time.Minute)
		w.vanish("a-0")
		time.Sleep(20 * time.Hour)
		w.pass("pass-1")
		time.Sleep(20 * time.Minute)
		w.pass("pass-2")
		w.holds("10.64.75.192/26 of a holds 1 | a:10.64.75.192/26 | 1 handles")
	})
}

// A Node object is deleted by mistake, and the kubelet registers it again five seconds later. With
// etcdv3 the controller deletes the Calico node, which releases every address of the node's
// endpoints, whatever the state of the pods: the grace period and all checks belong to the IPAM
// controller and do not apply. The next pods get the addresses of live pods. With the Kubernetes
// datastore their addresses are kept.
func TestDeletedNodeFreesLivingPods(t *testing.T) {
	for ds, kept := range map[string]bool{store.Etcd: false, store.Kubernetes: true} {
		gcPlay(t, gcRun{datastore: ds}, func(_ context.Context, w *gcWorld) {
			w.cluster("10.64.75.0/24", "a", "b")
			ip := w.plug("a-0", "a")
			w.start(controllerName, "controller")
			time.Sleep(time.Minute)
			w.deleteNode("a")
			time.Sleep(5 * time.Second)
			w.node("a")
			time.Sleep(time.Hour)
			if held := w.holder(ip) != ""; held != kept {
				t.Errorf("%s: the living pod's %s is held by %q", ds, ip, w.holder(ip))
			}
		})
	}
}

// plug starts a pod with the real CNI plugin, which also stores its endpoint.
func (w *gcWorld) plug(pod, node string) string {
	w.t.Helper()
	ctx := context.Background()
	_, err := w.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	w.must(err)
	w.create(pod, node)
	p, err := w.kube.CoreV1().Pods("default").Get(ctx, pod, metav1.GetOptions{})
	w.must(err)
	call := ipam.Call{
		Node: node, Pod: simmodel.PodRef{Namespace: "default", Name: pod}, UID: string(p.UID), Container: "sandbox-of-" + pod,
		Interface: "eth0", Network: record.NetworkKey,
		Config: json.RawMessage(`{"name":"k8s-pod-network","cniVersion":"0.3.1","type":"calico","ipam":{"type":"calico-ipam"},"policy":{"type":"k8s"}}`),
	}
	var got ipam.Result
	a := w.Spawn(sim.Process{ID: sim.ActorID("cni-add/" + pod), Run: func(ctx context.Context, g *sim.Gate) (err error) {
		got, err = w.in.Add(ctx, g, call)
		return err
	}})
	<-a.Done()
	w.must(a.Err())
	if len(got.Addrs) != 1 {
		w.t.Fatal(got)
	}
	w.status(pod, corev1.PodRunning, got.Addrs[0].Addr().String())
	return got.Addrs[0].Addr().String()
}
