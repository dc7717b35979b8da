package canary_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"ipamsim/model"
	"ipamsim/reports/prose"
	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/canary"
	"ipamsim/sim/kube"
	"ipamsim/sim/longtest"
	"ipamsim/sim/strategy"
)

const network = "default/net"

// world is a canary in a simulated run over the real API server and etcd.
type world struct {
	*sim.World
	t    *testing.T
	api  *kube.Server
	inst ipam.Instance
	pods dynamic.NamespaceableResourceInterface // past the gate
	cfg  json.RawMessage

	mu   sync.Mutex
	got  map[string]netip.Addr // container → what its ADD returned
	errs map[string]error
}

// simulate runs story as the harness's own actor, once per seed under a random
// order with faults, and once in the plain order.
func simulate(t *testing.T, server *etcd.Server, s sim.Strategy, faults sim.Budget, section string, story func(context.Context, *world)) *sim.Trace {
	t.Helper()
	run, err := server.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer run.End()
	s.Begin(0)
	opts := sim.Options{Seed: 1, Strategy: s, Faults: faults}
	tr, err := sim.Run(context.Background(), opts, func(w *sim.World) error {
		api, err := ipam.Serve(w, run, canary.New())
		if err != nil {
			return err
		}
		direct, err := dynamic.NewForConfig(kube.Config(api.Direct()))
		if err != nil {
			return err
		}
		x := &world{World: w, t: t, api: api, cfg: json.RawMessage(`{"type":"macvlan","ipam":` + section + `}`),
			pods: direct.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}),
			got:  map[string]netip.Addr{}, errs: map[string]error{}}
		if x.inst, err = canary.New().Open(ipam.Env{API: api, Store: run}); err != nil {
			return err
		}
		w.Spawn(sim.Process{ID: "story", Run: func(ctx context.Context, _ *sim.Gate) error {
			defer w.Finish()
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

func (w *world) call(n int) ipam.Call {
	ref := model.PodRef{Namespace: "default", Name: fmt.Sprintf("web-%d", n)}
	c := ipam.Call{Node: fmt.Sprintf("node-%d", n%2), Pod: ref, Container: "c-" + ref.Name, Interface: "net1", Network: network, Config: w.cfg}
	if p, err := w.pods.Namespace("default").Get(context.Background(), ref.Name, metav1.GetOptions{}); err == nil {
		c.UID = string(p.GetUID())
	}
	return c
}

func (w *world) createPod(ctx context.Context, n int) {
	p := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": fmt.Sprintf("web-%d", n), "namespace": "default"},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}},
	}}
	if _, err := w.pods.Namespace("default").Create(ctx, p, metav1.CreateOptions{}); err != nil {
		w.t.Error(err)
	}
}

func (w *world) deletePod(ctx context.Context, n int) {
	now := int64(0)
	err := w.pods.Namespace("default").Delete(ctx, fmt.Sprintf("web-%d", n), metav1.DeleteOptions{GracePeriodSeconds: &now})
	if err != nil {
		w.t.Error(err)
	}
}

// add starts an ADD as a process.
func (w *world) add(n int) *sim.Actor {
	c := w.call(n)
	return w.Spawn(sim.Process{ID: sim.ActorID("cni-add/" + c.Pod.Name), Run: func(ctx context.Context, g *sim.Gate) error {
		r, err := w.inst.Add(ctx, g, c)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.errs[c.Container] = err; err == nil {
			w.got[c.Container] = r.Addrs[0].Addr()
		}
		return nil
	}})
}

func (w *world) del(n int) *sim.Actor {
	c := w.call(n)
	return w.Spawn(sim.Process{ID: sim.ActorID("cni-del/" + c.Pod.Name), Run: func(ctx context.Context, g *sim.Gate) error {
		err := w.inst.Del(ctx, g, c)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.errs[c.Container] = err; err == nil {
			delete(w.got, c.Container)
		}
		return nil
	}})
}

func (w *world) reconcile() *sim.Actor {
	return w.Spawn(sim.Process{ID: "canary-reconciler", Run: func(ctx context.Context, g *sim.Gate) error { return w.inst.Run["canary-reconciler"](ctx, g, "") }})
}

func wait(all ...*sim.Actor) {
	for _, a := range all {
		<-a.Done()
	}
}

// claims is the record, as "addr container".
func (w *world) claims() []string {
	s, err := w.inst.Observe(context.Background())
	if err != nil {
		w.t.Error(err)
	}
	out := []string{}
	for _, c := range s.Claims {
		out = append(out, c.Addr.String()+" "+c.Container)
	}
	slices.Sort(out)
	return out
}

func (w *world) held() []string {
	out := []string{}
	for c, a := range w.got {
		out = append(out, a.String()+" "+c)
	}
	slices.Sort(out)
	return out
}

func startEtcd(t *testing.T) *etcd.Server {
	t.Helper()
	s, err := etcd.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

const plain = `{"type":"canary","range":"10.0.0.0/29"}`

func TestPlainOrder(t *testing.T) {
	var lines []string
	simulate(t, startEtcd(t), strategy.NewSerial(), sim.Budget{}, plain, func(ctx context.Context, w *world) {
		for n := range 3 {
			w.createPod(ctx, n)
			wait(w.add(n))
		}
		wait(w.del(0))
		if got, want := strings.Join(w.claims(), ", "), "10.0.0.2 c-web-1, 10.0.0.3 c-web-2"; got != want {
			t.Errorf("claims %s, want %s", got, want)
		}
		w.deletePod(ctx, 1)
		wait(w.reconcile())
		if got, want := strings.Join(w.claims(), ", "), "10.0.0.3 c-web-2"; got != want {
			t.Errorf("after the reconciler: claims %s, want %s", got, want)
		}
		s, _ := w.inst.Observe(ctx)
		if len(s.Pools) != 1 || len(s.Reservations) != 1 || s.Claims[0].Revision == 0 {
			t.Errorf("%+v", s)
		}
		lines = acts(w)
	})
	for _, want := range []string{
		"cni-add/web-0 creates ledger unnamed with 10.0.0.1 of default/web-0",
		"cni-add/web-2 writes ledger unnamed, if still at revision 5: 10.0.0.1 of default/web-0, 10.0.0.2 of default/web-1, 10.0.0.3 of default/web-2",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("missing %q in\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

// acts renders the Act of every step.
func acts(w *world) (out []string) {
	for _, s := range w.Trace().Steps {
		if x, ok := s.Detail.(kube.Exchange); ok {
			out = append(out, string(s.Choice.Op.Actor)+" "+prose.Act(new(w.inst.Act(x))))
		}
	}
	return out
}

// The two bugs that are about the process and not about the ledger.
func TestCrashAndHang(t *testing.T) {
	server := startEtcd(t)
	var crashed []sim.ActorID
	simulate(t, server, strategy.NewSerial(), sim.Budget{}, `{"type":"canary","range":"10.0.0.0/29","bug":"actor-crash"}`, func(ctx context.Context, w *world) {
		w.Hooks.Panic = func(id sim.ActorID, _ any, _ string) { crashed = append(crashed, id) }
		wait(w.add(0))
		wait(w.add(1))
	})
	if !slices.Equal(crashed, []sim.ActorID{"cni-add/web-1"}) {
		t.Errorf("crashed: %v", crashed)
	}
	simulate(t, server, strategy.NewSerial(), sim.Budget{}, `{"type":"canary","range":"10.0.0.0/29","bug":"stuck"}`, func(ctx context.Context, w *world) {
		wait(w.add(0))
		a := w.add(1)
		select {
		case <-a.Done():
			t.Error("it returned")
		case <-time.After(time.Hour):
		}
		w.Kill(a.ID)
		wait(a)
	})
}

// Under every order and with lost replies, no two containers hold one address,
// and the record is what the calls returned once all is done: eight pods want
// six addresses; of four that have one, two leave by DEL and one by a crash,
// while the rest comes and a reconciler passes.
func TestRightUnderEverySchedule(t *testing.T) {
	server := startEtcd(t)
	seeds := uint64(3)
	if longtest.On() {
		seeds = 20
	}
	faults := sim.Budget{Allowed: sim.Of(sim.FailBefore, sim.LoseReply), Max: 3}
	for seed := range seeds {
		for _, name := range strategy.Names() {
			var digests []uint64
			for range 2 {
				s, err := strategy.Parse(name, seed, strategy.Settings{})
				if err != nil {
					t.Fatal(err)
				}
				tr := simulate(t, server, s, faults, plain, func(ctx context.Context, w *world) { rush(ctx, w, s.String()) })
				if t.Failed() {
					return
				}
				digests = append(digests, tr.Digest())
			}
			if digests[0] != digests[1] {
				t.Errorf("%s(seed=%d) ran differently the second time", name, seed)
			}
		}
	}
}

func rush(ctx context.Context, w *world, where string) {
	var first, second []*sim.Actor
	for n := range 4 {
		w.createPod(ctx, n)
		first = append(first, w.add(n))
	}
	wait(first...)
	w.deletePod(ctx, 2)
	delete(w.got, "c-web-2")
	delete(w.errs, "c-web-2")
	second = append(second, w.reconcile(), w.del(0), w.del(1))
	for n := 4; n < 8; n++ {
		w.createPod(ctx, n)
		second = append(second, w.add(n))
	}
	wait(second...)
	seen := map[netip.Addr]string{}
	for c, a := range w.got {
		if other := seen[a]; other != "" {
			w.t.Errorf("%s: %s and %s both hold %s", where, other, c, a)
		}
		seen[a] = c
	}
	for err := error(sim.ErrKilled); err != nil; { // a pass that fails is made again, as cron would
		a := w.reconcile()
		wait(a)
		err = a.Err()
	}
	for n := range 8 { // what failed is undone as a kubelet would
		if c := w.call(n); w.errs[c.Container] != nil {
			wait(w.del(n))
		}
	}
	if got, want := strings.Join(w.claims(), ", "), strings.Join(w.held(), ", "); got != want {
		w.t.Errorf("%s: claims %s, but held is %s", where, got, want)
	}
}

// TestDefinition keeps the CRD and the code in step.
func TestDefinition(t *testing.T) {
	crds, err := canary.New().CRDs()
	if err != nil {
		t.Fatal(err)
	}
	d := crds[0]
	if d.Name != d.Spec.Names.Plural+"."+d.Spec.Group || d.Spec.Scope != apiextv1.ClusterScoped {
		t.Errorf("%+v", d)
	}
}
