package whereabouts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/whereabouts"
	"ipamsim/sim/kube"
)

var (
	podsGVR         = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	nodesGVR        = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	nadsGVR         = schema.GroupVersionResource{Group: "k8s.cni.cncf.io", Version: "v1", Resource: "network-attachment-definitions"}
	poolsGVR        = schema.GroupVersionResource{Group: "whereabouts.cni.cncf.io", Version: "v1alpha1", Resource: "ippools"}
	reservationsGVR = schema.GroupVersionResource{Group: "whereabouts.cni.cncf.io", Version: "v1alpha1", Resource: "overlappingrangeipreservations"}
	eventsGVR       = schema.GroupVersionResource{Version: "v1", Resource: "events"}
)

// world is the real Whereabouts in a simulated run over the real API server and
// etcd.
type world struct {
	*sim.World
	t        *testing.T
	inst     ipam.Instance
	api      dynamic.Interface // through the story's own gate
	store    *etcd.Run
	networks map[string]json.RawMessage

	mu   sync.Mutex
	got  map[string]ipam.Result // container/interface → what its ADD returned
	errs map[string]error
}

// simulate runs story as the harness's own actor, with the given networks: name →
// ipam section.
func simulate(t *testing.T, server *etcd.Server, s sim.Strategy, o sim.Options, networks map[string]string, story func(context.Context, *world)) *sim.Trace {
	t.Helper()
	run, err := server.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return simulateOn(t, run, s, o, networks, story)
}

// simulateOn is simulate on a store of the caller's choice, which it ends.
func simulateOn(t *testing.T, run *etcd.Run, s sim.Strategy, o sim.Options, networks map[string]string, story func(context.Context, *world)) *sim.Trace {
	t.Helper()
	defer run.End()
	s.Begin(0)
	o.Strategy = s
	a := whereabouts.New()
	tr, err := sim.Run(context.Background(), o, func(w *sim.World) error {
		api, err := ipam.Serve(w, run, a)
		if err != nil {
			return err
		}
		direct, err := dynamic.NewForConfig(kube.Config(api.Direct()))
		if err != nil {
			return err
		}
		x := &world{World: w, t: t, api: direct, store: run, networks: map[string]json.RawMessage{}, got: map[string]ipam.Result{}, errs: map[string]error{}}
		env := ipam.Env{API: api, Store: run}
		for name, section := range networks {
			x.networks[name] = configured(name, section)
			n, ok, err := a.Network("default/"+name, x.networks[name])
			if !ok || err != nil {
				return fmt.Errorf("network %s: %v %w", name, ok, err)
			}
			env.Networks = append(env.Networks, n)
			x.create(nadsGVR, map[string]any{"metadata": meta(name), "spec": map[string]any{"config": string(x.networks[name])}})
		}
		if x.inst, err = a.Open(env); err != nil {
			return err
		}
		w.Spawn(sim.Process{ID: "story", Run: func(ctx context.Context, g *sim.Gate) error {
			defer w.Finish()
			x.api, err = dynamic.NewForConfig(kube.Config(api.Transport(g)))
			if err != nil {
				return err
			}
			story(ctx, x)
			return nil
		}})
		return nil
	})
	if err != nil {
		t.Fatal(s, err)
	}
	return tr
}

// configured is the whole configuration around an ipam section.
func configured(name, section string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"cniVersion":"0.3.1","name":%q,"type":"macvlan","ipam":%s}`, name, section))
}

func meta(name string) map[string]any { return map[string]any{"name": name, "namespace": "default"} }

var kinds = map[string]string{"ippools": "IPPool", "overlappingrangeipreservations": "OverlappingRangeIPReservation", "pods": "Pod", "nodes": "Node", "network-attachment-definitions": "NetworkAttachmentDefinition"}

func (w *world) create(gvr schema.GroupVersionResource, o map[string]any) {
	w.t.Helper()
	o["apiVersion"], o["kind"] = gvr.GroupVersion().String(), kinds[gvr.Resource]
	u := &unstructured.Unstructured{Object: o}
	var r dynamic.ResourceInterface = w.api.Resource(gvr)
	if ns := u.GetNamespace(); ns != "" {
		r = w.api.Resource(gvr).Namespace(ns)
	}
	if _, err := r.Create(context.Background(), u, metav1.CreateOptions{}); err != nil {
		w.t.Error(err)
	}
}

func (w *world) node(name string) {
	w.create(nodesGVR, map[string]any{"metadata": map[string]any{"name": name}})
}

// pod is a running pod with the addresses in its network-status.
func (w *world) pod(name, node, network string, ips ...string) {
	m := meta(name)
	status, _ := json.Marshal([]map[string]any{{"name": "default/" + network, "interface": "net1", "ips": ips}})
	m["annotations"] = map[string]any{"k8s.v1.cni.cncf.io/network-status": string(status)}
	w.create(podsGVR, map[string]any{
		"metadata": m,
		"spec":     map[string]any{"nodeName": node, "containers": []any{map[string]any{"name": "c", "image": "i"}}},
	})
}

func (w *world) deletePod(name string) {
	now := int64(0)
	if err := w.api.Resource(podsGVR).Namespace("default").Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		w.t.Error(err)
	}
}

func call(w *world, pod, node, network, iface string) ipam.Call {
	return ipam.Call{Node: node, Pod: model.PodRef{Namespace: "default", Name: pod}, Container: "c-" + pod, Interface: iface, Network: "default/" + network, Config: w.networks[network]}
}

// add starts an ADD as a process.
func (w *world) add(c ipam.Call) *sim.Actor {
	return w.Spawn(sim.Process{ID: sim.ActorID("add/" + c.Pod.Name + "/" + c.Interface), Group: c.Node, Mortal: true, Run: func(ctx context.Context, g *sim.Gate) error {
		r, err := w.inst.Add(ctx, g, c)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.errs[c.Container+"/"+c.Interface] = err
		if err == nil {
			w.got[c.Container+"/"+c.Interface] = r
		}
		return err
	}})
}

func (w *world) del(c ipam.Call) *sim.Actor {
	return w.Spawn(sim.Process{ID: sim.ActorID("del/" + c.Pod.Name + "/" + c.Interface), Group: c.Node, Mortal: true, Run: func(ctx context.Context, g *sim.Gate) error {
		return w.inst.Del(ctx, g, c)
	}})
}

func (w *world) background(name, node string) *sim.Actor {
	run := w.inst.Run[name]
	if run == nil {
		w.t.Fatal("no reconciler " + name)
	}
	return w.Spawn(sim.Process{ID: sim.ActorID(strings.TrimSuffix(name+"/"+node, "/")), Group: node, Mortal: true, Run: func(ctx context.Context, g *sim.Gate) error { return run(ctx, g, node) }})
}

// wait also lets the last change reach the record: the kernel moves it after the
// step in which the process ended.
func wait(all ...*sim.Actor) {
	for _, a := range all {
		<-a.Done()
	}
	time.Sleep(time.Millisecond)
}

func (w *world) snapshot() model.Snapshot {
	s, err := w.inst.Observe(context.Background())
	if err != nil {
		w.t.Error(err)
	}
	return s
}

// claims is the record, as "addr pod".
func (w *world) claims() string {
	out := []string{}
	for _, c := range w.snapshot().Claims {
		out = append(out, c.Addr.String()+" "+c.Pod.Name)
	}
	return strings.Join(out, ", ")
}

// addrs is what the ADD of a container's interface returned.
func (w *world) addrs(pod, iface string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.errs["c-"+pod+"/"+iface]; err != nil {
		return err.Error()
	}
	out := []string{}
	for _, p := range w.got["c-"+pod+"/"+iface].Addrs {
		out = append(out, p.String())
	}
	return strings.Join(out, " ")
}

var (
	started    bool
	sharedEtcd = sync.OnceValues(func() (*etcd.Server, error) { started = true; return etcd.Start() })
)

func TestMain(m *testing.M) {
	whereabouts.New() // silences upstream for the tests that do not
	code := m.Run()
	if started {
		s, _ := sharedEtcd()
		_ = s.Close()
	}
	os.Exit(code)
}

func server(t testing.TB) *etcd.Server {
	t.Helper()
	s, err := sharedEtcd()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
