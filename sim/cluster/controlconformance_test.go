package cluster_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/control"
	"ipamsim/sim/cluster/control/real"
	"ipamsim/sim/cluster/control/simple"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/controlplane"
	"ipamsim/sim/etcd"
	"ipamsim/sim/etcd/etcdtest"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/canary"
	"ipamsim/sim/kube"
	"ipamsim/sim/strategy"
)

var store *etcd.Server

func TestMain(m *testing.M) {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		_ = flag.Set("rapid.checks", "8") // make test, the same ones each time; make conformance says how many
		_ = flag.Set("rapid.seed", "1")
	}
	controlplane.Prepare()
	etcdtest.Main(m, &store)
}

// The simple controllers behave like Kubernetes' own: the same pods are created, bound, run, fail,
// are deleted and removed, equally often, on the same nodes and at the same times.
//
// Allowed differences are: random parts of names; pods that do not tolerate a silent node at all;
// the choice between equal nodes for a pod (a workload that is not bound to nodes is alone in its
// world, and nodes that an action affects are named by their pods); and times, within tolerance.
func TestConformance(t *testing.T) {
	played := map[string]string{}
	rapid.Check(t, func(rt *rapid.T) {
		h := draw(rt)
		text := h.String()
		diff, again := played[text]
		if !again {
			diff = compare(t, h)
			played[text] = diff
		}
		if diff != "" {
			rt.Fatalf("%s\n%s", diff, text)
		}
	})
}

// Pods that are not ready are scaled down from the lowest: the others wait. While their
// node is silent, none but web-0 could go.
func TestConformanceOfScaleDown(t *testing.T) {
	h := history{until: 9 * time.Minute}
	h.objects = append(h.objects, cluster.Object{Kind: "Node", Name: "a", Body: kubeapi.NodeManifest("a", nil)})
	h.add("StatefulSet", "web", map[string]any{"spec": map[string]any{
		"replicas": 3, "serviceName": "web", "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
		"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}},
	}})
	crash := func(n string) cluster.Action { return &action.Crash{Node: n} }
	h.script = []cluster.Entry{
		{At: 50 * time.Second, Action: onNode{what: "crash", node: "a", slow: true, do: crash}},
		{At: 4 * time.Minute, Action: &action.Scale{Kind: "StatefulSet", Name: "web", Replicas: 1}},
	}
	if diff := compare(t, h); diff != "" {
		t.Errorf("%s\n%s", diff, h)
	}
}

// The monitor of Kubernetes' own controllers checks every 5 s when a node's Lease, renewed every 10
// s, was last renewed, and pod garbage collection runs every 20 s. Actions without nodes take a few
// messages more or less.
const (
	ofNodes  = 30 * time.Second
	ofOthers = 5 * time.Second
)

// compare returns the differences between the histories of a world, or "".
func compare(t *testing.T, h history) string {
	want, got := live(t, h, real.New), live(t, h, simple.New)
	tolerance := ofOthers
	if h.nodesLost() {
		tolerance = ofNodes
	}
	for _, what := range keys(want, got) {
		if n := parted(want[what], got[what], tolerance, h.until-tolerance); n >= 0 {
			return fmt.Sprintf("%s: really at %s, simply at %s\n%s", what, instants(want[what]), instants(got[what]), sideBySide(want, got))
		}
	}
	return ""
}

// parted is the index where two lists of times differ; -1: nowhere. A time near the end may be in
// only one of them.
func parted(a, b []time.Duration, tolerance, end time.Duration) int {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a) && b[i] < end, i >= len(b) && a[i] < end:
			return i
		case i < len(a) && i < len(b) && (a[i]-b[i]).Abs() > tolerance:
			return i
		}
	}
	return -1
}

// tale is when what happened to which pods.
type tale map[string][]time.Duration

func keys(all ...tale) (out []string) {
	for _, t := range all {
		for k := range t {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func instants(all []time.Duration) string {
	var out []string
	for _, d := range all {
		out = append(out, d.Round(100*time.Millisecond).String())
	}
	return "[" + strings.Join(out, " ") + "]"
}

func sideBySide(want, got tale) string {
	var b strings.Builder
	for _, k := range keys(want, got) {
		fmt.Fprintf(&b, "  %-30s %s | %s\n", k, instants(want[k]), instants(got[k]))
	}
	return b.String()
}

// spy records what a set of controllers does in a world.
type spy struct {
	control.Set
	world *sim.World
	free  bool
	seen  tale
}

// Changed calls the set's and records the change.
func (s spy) Changed(ch kube.Change) {
	s.Set.Changed(ch)
	now, _ := ch.Object.(*corev1.Pod)
	was, _ := ch.Old.(*corev1.Pod)
	p := now
	switch {
	case ch.Resource != "pods":
		return
	case now == nil:
		s.note("gone", was)
		return
	case was == nil:
		s.note("made", p)
		was = &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}
	}
	if was.Spec.NodeName == "" && p.Spec.NodeName != "" {
		s.note("bound", p)
	}
	if was.DeletionTimestamp == nil && p.DeletionTimestamp != nil {
		s.note("deleted", p)
	}
	// The last status of a deleted pod is sent only with Kubernetes' own controllers
	// (worker.leave).
	if was.Status.Phase != p.Status.Phase && was.DeletionTimestamp == nil {
		s.note(strings.ToLower(string(p.Status.Phase)), p)
	}
}

func (s spy) note(what string, p *corev1.Pod) {
	name := p.Labels["app"]
	if set := p.Labels["statefulset.kubernetes.io/pod-name"]; set != "" {
		name = set
	}
	if !s.free && what != "made" {
		name += "@" + p.Spec.NodeName
	}
	k := name + " " + what
	s.seen[k] = append(s.seen[k], s.world.Now())
}

// live runs a history and returns what the controllers did.
func live(t *testing.T, h history, set func(control.Env) control.Set) tale {
	t.Helper()
	seen := tale{}
	cfg := cluster.Config{Manager: canary.New(), Until: h.until, Objects: h.objects, Script: h.script}
	cfg.Controllers = func(env control.Env) control.Set { return spy{set(env), env.World, h.free, seen} }
	run := store.BeginMemory()
	defer run.End()
	st := strategy.NewTimed(1, strategy.Settings{})
	st.Begin(0)
	_, err := sim.Run(context.Background(), sim.Options{Strategy: st, Seed: 1, Limits: sim.Limits{Stuck: time.Minute}}, func(w *sim.World) error {
		api, err := ipam.Serve(w, run, cfg.Manager)
		if err == nil {
			_, err = cluster.Start(w, run, api, cfg)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}
