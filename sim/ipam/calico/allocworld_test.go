package calico

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/strategy"
)

// allocWorld is a run with only the real API server, the real datastore on the real etcd, and the
// actions of a story: executions of the CNI plugin, each in its own process, and an operator's
// changes, which pass no gate.
type allocWorld struct {
	*sim.World
	t      testing.TB
	in     *instance
	run    *etcd.Run
	direct clientv3.Interface
	kube   kubernetes.Interface
	config json.RawMessage
	ctx    context.Context

	mu      sync.Mutex
	count   map[string]int
	devices map[string]netip.Addr // addresses of nodes' own devices, by handle
}

// allocRun is the configuration of a story's world. The zero value is etcdv3 with immediate
// delivery of every message.
type allocRun struct {
	datastore string
	strategy  sim.Strategy
	ipam      string // the configuration's ipam section; "": the default, addresses of both families
	options   sim.Options
}

// netConf is Calico's network configuration as its manifest installs it.
//
// Source: manifests/calico.yaml, ConfigMap calico-config (v3.31.0).
const netConf = `{"cniVersion":"0.3.1","name":"k8s-pod-network","type":"calico","datastore_type":"kubernetes","mtu":0,` +
	`"ipam":%s,"policy":{"type":"k8s"},"kubernetes":{"kubeconfig":"/etc/cni/net.d/calico-kubeconfig"}}`

// story runs f as a separate actor and returns the trace and a digest of the store.
func story(t testing.TB, server *etcd.Server, r allocRun, f func(*allocWorld)) (*sim.Trace, string) {
	t.Helper()
	run, err := server.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer run.End()
	o := r.options
	if o.Strategy = r.strategy; o.Strategy == nil {
		o.Strategy = strategy.NewTimed(1, strategy.Settings{})
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	o.Strategy.Begin(0)
	section := r.ipam
	if section == "" {
		section = `{"type":"calico-ipam"}`
	}
	a, digest := New(), ""
	tr, err := sim.Run(context.Background(), o, func(w *sim.World) error {
		x := &allocWorld{World: w, t: t, run: run, config: json.RawMessage(fmt.Sprintf(netConf, section)), count: map[string]int{}, devices: map[string]netip.Addr{}}
		if err := x.open(a, r.datastore); err != nil {
			return err
		}
		w.Hooks.Panic = func(id sim.ActorID, v any, stack string) { t.Errorf("%s panicked: %v\n%s", id, v, stack) }
		w.Hooks.End = func() { digest, err = run.Digest() }
		w.Spawn(sim.Process{ID: "story", Run: func(ctx context.Context, _ *sim.Gate) error {
			defer w.Finish()
			x.ctx = ctx
			f(x)
			return nil
		}})
		return err
	})
	if stuck := (*sim.Stuck)(nil); errors.As(err, &stuck) {
		t.Log(stuck.Stacks)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tr, digest
}

func (w *allocWorld) open(a *ipam.Manager, datastore string) error {
	api, err := ipam.Serve(w.World, w.run, a)
	if err != nil {
		return err
	}
	env := ipam.Env{API: api, Store: w.run, Datastore: cmp.Or(datastore, store.Etcd), Device: w.device}
	if w.in, err = instanceIn(env); err != nil {
		return err
	}
	if w.direct, err = w.in.ds.Client(nil, 0); err != nil {
		return err
	}
	if w.kube, err = store.KubeClient(api, nil); err != nil {
		return err
	}
	w.namespace("default", nil, nil)
	return nil
}

func (w *allocWorld) device(_, handle string, a netip.Addr) {
	if w.devices[handle] = a; !a.IsValid() {
		delete(w.devices, handle)
	}
}

func (w *allocWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Error(err)
	}
}

func (w *allocWorld) namespace(name string, labels, annotations map[string]string) {
	w.t.Helper()
	_, err := w.kube.CoreV1().Namespaces().Create(context.Background(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations}}, metav1.CreateOptions{})
	w.must(err)
}

// nodes joins machines without labels.
func (w *allocWorld) nodes(names ...string) {
	w.t.Helper()
	for _, n := range names {
		w.node(n, nil)
	}
}

func (w *allocWorld) node(name string, labels map[string]string) {
	w.t.Helper()
	_, err := w.kube.CoreV1().Nodes().Create(w.ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
	w.must(err)
	w.run.Pump()
}

// pool stores an IP pool as calicoctl does; set changes the defaults.
func (w *allocWorld) pool(name, cidr string, set ...func(*apiv3.IPPoolSpec)) {
	w.t.Helper()
	p := apiv3.NewIPPool()
	p.Name = name
	p.Spec = apiv3.IPPoolSpec{CIDR: cidr, NodeSelector: "all()", IPIPMode: apiv3.IPIPModeNever, VXLANMode: apiv3.VXLANModeNever}
	for _, f := range set {
		f(&p.Spec)
	}
	_, err := w.direct.IPPools().Create(w.ctx, p, options.SetOptions{})
	w.must(err)
}

// pod stores a pod that a kubelet is about to start.
func (w *allocWorld) pod(ref model.PodRef, annotations map[string]string) {
	w.t.Helper()
	_, err := w.kube.CoreV1().Pods(ref.Namespace).Create(w.ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: ref.Name, Namespace: ref.Namespace, Annotations: annotations},
		Spec:       corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}, metav1.CreateOptions{})
	w.must(err)
}

func ref(pod string) model.PodRef {
	if ns, name, ok := strings.Cut(pod, "/"); ok {
		return model.PodRef{Namespace: ns, Name: name}
	}
	return model.PodRef{Namespace: "default", Name: pod}
}

func (w *allocWorld) cniCall(node, pod string) ipam.Call {
	return ipam.Call{Node: node, Pod: ref(pod), Container: "sandbox-" + ref(pod).Name, Interface: "eth0", Network: record.NetworkKey, Config: w.config}
}

// process starts one execution of the plugin and returns its end. Names repeat as
// add/web-0, add/web-0~2, …
func (w *allocWorld) process(verb, node, pod string, f func(context.Context, *sim.Gate) error) *sim.Actor {
	w.mu.Lock()
	id := verb + "/" + ref(pod).Name
	if w.count[id]++; w.count[id] > 1 {
		id = fmt.Sprintf("%s~%d", id, w.count[id])
	}
	w.mu.Unlock()
	return w.Spawn(sim.Process{ID: sim.ActorID(id), Group: node, Mortal: true, Run: f})
}

// add starts the pod and executes ADD for it: the addresses, separated by blanks.
func (w *allocWorld) add(node, pod string) (string, error) {
	w.t.Helper()
	w.pod(ref(pod), nil)
	return w.again(node, pod)
}

// again is ADD for a pod that is stored already.
func (w *allocWorld) again(node, pod string) (string, error) {
	var r ipam.Result
	var err error
	a := w.process("add", node, pod, func(ctx context.Context, g *sim.Gate) error {
		r, err = w.in.Add(ctx, g, w.cniCall(node, pod))
		return err
	})
	<-a.Done()
	if a.Err() != nil {
		return "", a.Err()
	}
	var out []string
	for _, p := range append(r.Addrs, r.Static...) {
		out = append(out, p.Addr().String())
	}
	return strings.Join(out, " "), nil
}

// fill executes n ADDs one after another and returns the last address.
func (w *allocWorld) fill(node string, n int) (last string) {
	w.t.Helper()
	for i := range n {
		var err error
		if last, err = w.add(node, fmt.Sprintf("%s-%d", node, i)); err != nil {
			w.t.Errorf("pod %d of %s: %v", i, node, err)
			return last
		}
	}
	return last
}

func (w *allocWorld) del(node, pod string) error {
	a := w.process("del", node, pod, func(ctx context.Context, g *sim.Gate) error {
		return w.in.Del(ctx, g, w.cniCall(node, pod))
	})
	<-a.Done()
	return a.Err()
}

// said lists the messages of one process, without their results.
func said(tr *sim.Trace, id sim.ActorID) []string {
	var out []string
	for _, s := range tr.Steps {
		if s.Choice.Op.Actor == id {
			out = append(out, s.Choice.Op.Key)
		}
	}
	return out
}
