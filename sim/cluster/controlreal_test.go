package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/control"
	"ipamsim/sim/cluster/control/real"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/canary"
	"ipamsim/sim/kube"
	"ipamsim/sim/strategy"
)

const config = `{"cniVersion":"0.3.1","name":"net","type":"macvlan","ipam":{"type":"canary","range":"10.0.0.0/24"}}`

const web = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":5,"selector":{"matchLabels":{"app":"web"}},
	"template":{"metadata":{"labels":{"app":"web"},"annotations":{"k8s.v1.cni.cncf.io/networks":"default/net"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`

// lived is what became of a cluster.
type lived struct {
	trace  *sim.Trace
	digest string
	nodes  []*corev1.Node
	pods   []*corev1.Pod
}

// fiveLived runs a cluster of three nodes and five pods.
func fiveLived(t testing.TB, more func(*cluster.Config)) (l lived) {
	t.Helper()
	a := canary.New()
	network, _, err := a.Network("default/net", json.RawMessage(config))
	if err != nil {
		t.Fatal(err)
	}
	cfg := cluster.Config{Manager: a, Until: 5 * time.Minute, Networks: []cluster.Network{{Network: network, Config: json.RawMessage(config)}}, Controllers: real.New}
	for _, name := range []string{"a", "b", "c"} {
		cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "Node", Name: name, Body: kubeapi.NodeManifest(name, map[string]string{corev1.LabelHostname: name})})
	}
	cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "Deployment", Namespace: "default", Name: "web", Body: json.RawMessage(web)})
	if more != nil {
		more(&cfg)
	}
	run := store.BeginMemory()
	defer run.End()
	st := strategy.NewTimed(1, strategy.Settings{})
	st.Begin(0)
	l.trace, err = sim.Run(context.Background(), sim.Options{Strategy: st, Seed: 1, Limits: sim.Limits{Stuck: time.Minute}}, func(w *sim.World) error {
		api, err := ipam.Serve(w, run, a)
		if err != nil {
			return err
		}
		if _, err = cluster.Start(w, run, api, cfg); err != nil {
			return err
		}
		end := w.Hooks.End
		w.Hooks.End = func() {
			end()
			l.digest, _ = run.Digest()
			l.nodes, l.pods = stored[*corev1.Node](t, api, "nodes"), stored[*corev1.Pod](t, api, "pods")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func stored[T any](t testing.TB, api *kube.Server, resource string) (out []T) {
	all, err := api.List(context.Background(), resource)
	if err != nil {
		t.Error(err)
	}
	for _, o := range all {
		out = append(out, o.(T))
	}
	return out
}

// Pods that Kubernetes' own controllers create and its scheduler binds run, each with its own
// address, on nodes that report their resources.
func TestDeployment(t *testing.T) {
	l := fiveLived(t, nil)
	addresses := map[string]bool{}
	for _, p := range l.pods {
		if p.Status.Phase != corev1.PodRunning || p.Spec.NodeName == "" || !strings.HasPrefix(p.Name, "web-") {
			t.Errorf("%s is %s on %q", p.Name, p.Status.Phase, p.Spec.NodeName)
		}
		addresses[p.Annotations["k8s.v1.cni.cncf.io/network-status"]] = true
	}
	if len(l.pods) != 5 || len(addresses) != 5 {
		t.Errorf("%d pods, %d addresses", len(l.pods), len(addresses))
	}
	for _, n := range l.nodes {
		if len(n.Status.Conditions) != 4 || n.Status.Allocatable.Pods().Value() != 110 || len(n.Spec.Taints) != 0 {
			t.Errorf("%s: %+v, taints %v", n.Name, n.Status, n.Spec.Taints)
		}
	}
	t.Logf("%d steps", len(l.trace.Steps))
}

// A machine that loses its power is unreachable after 50 s, its pods are deleted after five
// minutes more, and others run; it is well again when it is back.
func TestCrash(t *testing.T) {
	crash := func(until time.Duration) lived {
		return fiveLived(t, func(cfg *cluster.Config) {
			cfg.Until = until
			cfg.Script = []cluster.Entry{{At: time.Minute, Action: &action.Crash{Node: "a"}}, {At: 8 * time.Minute, Action: &action.PowerOn{Node: "a"}}}
		})
	}
	l := crash(7*time.Minute + 30*time.Second)
	deleted, running := 0, 0
	for _, p := range l.pods {
		switch {
		case p.DeletionTimestamp != nil && p.Spec.NodeName == "a":
			deleted++
		case p.Status.Phase == corev1.PodRunning && p.Spec.NodeName != "a":
			running++
		}
	}
	if taints := l.nodes[0].Spec.Taints; deleted == 0 || running != 5 || len(taints) != 2 || taints[0].Key != corev1.TaintNodeUnreachable {
		t.Errorf("off: %d deleted, %d run, taints %v", deleted, running, taints)
	}
	l = crash(9 * time.Minute)
	if taints := l.nodes[0].Spec.Taints; len(taints) != 0 || len(l.pods) != 5 {
		t.Errorf("on again: taints %v, %d pods", taints, len(l.pods))
	}
}

// A program of the control plane that is killed starts again; until then another replica is
// the leader. The cluster's flags apply: they decide when a node becomes unreachable.
func TestPlane(t *testing.T) {
	two := control.Component{Replicas: 2}
	plane := control.Plane{ControllerManager: two, Scheduler: two}
	plane.ControllerManager.ExtraArgs = []control.Arg{{Name: "node-monitor-grace-period", Value: "20s"}}
	for grace, p := range map[string]control.Plane{"20s": plane, "50s": {}} {
		l := fiveLived(t, func(cfg *cluster.Config) {
			cfg.Until = 100 * time.Second
			cfg.Controllers = func(env control.Env) control.Set {
				env.Plane = p
				return real.New(env)
			}
			cfg.Script = []cluster.Entry{
				{At: 20 * time.Second, Action: &action.Kill{Actor: "kube-controller-manager"}},
				{At: 20 * time.Second, Action: &action.Kill{Actor: "kube-scheduler"}},
				{At: 55 * time.Second, Action: &action.Delete{Resource: "pods", All: true}},
				{At: 65 * time.Second, Action: &action.Crash{Node: "a"}},
			}
		})
		if unreachable := len(l.nodes[0].Spec.Taints) > 0; unreachable != (grace == "20s") {
			t.Errorf("grace %s: taints %v", grace, l.nodes[0].Spec.Taints)
		}
		if len(l.pods) != 5 || slices.ContainsFunc(l.pods, func(p *corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning }) {
			t.Errorf("grace %s: %d pods", grace, len(l.pods))
		}
		t.Logf("%d steps", len(l.trace.Steps))
	}
}

// The pods of a StatefulSet get the volumes that they claim, on whichever node.
func TestVolumes(t *testing.T) {
	l := fiveLived(t, func(cfg *cluster.Config) {
		cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "StatefulSet", Namespace: "default", Name: "db", Body: json.RawMessage(`{"apiVersion":"apps/v1","kind":"StatefulSet",
			"metadata":{"name":"db","namespace":"default"},"spec":{"replicas":2,"serviceName":"db","selector":{"matchLabels":{"app":"db"}},
			"template":{"metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"data","mountPath":"/d"}]}]}},
			"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]}}`)})
		cfg.Until = time.Minute
	})
	running := 0
	for _, p := range l.pods {
		if strings.HasPrefix(p.Name, "db-") && p.Status.Phase == corev1.PodRunning {
			running++
		}
	}
	if running != 2 {
		t.Errorf("%d of 2 run", running)
	}
}

// A deleted pod has a final status before it is removed: Succeeded, or Failed if its containers
// exit with an error.
//
// Kubernetes asserts the same: pkg/kubelet/status, TestTerminatePod and
// TestDeletePodBeforeFinished (v1.37.2).
func TestLastStatus(t *testing.T) {
	for code, want := range map[string]string{"0": "Succeeded", "1": "Failed"} {
		l := fiveLived(t, func(cfg *cluster.Config) {
			o := &cfg.Objects[len(cfg.Objects)-1]
			o.Body = json.RawMessage(strings.Replace(string(o.Body), `"annotations":{`, `"annotations":{"ipamsim.dev/exit-code":"`+code+`",`, 1))
			cfg.Script = []cluster.Entry{{At: time.Minute, Action: &action.Delete{Resource: "pods", All: true}}}
		})
		over, gone := map[string]bool{}, 0
		for _, s := range l.trace.Steps {
			x, ok := s.Detail.(kube.Exchange)
			switch {
			case !ok || x.Resource != "pods" || x.Status != http.StatusOK || !strings.HasPrefix(string(s.Choice.Op.Actor), "kubelet/"):
			case x.Subresource == "status":
				over[x.Name] = strings.Contains(string(x.Request), `"phase":"`+want+`"`)
			case x.Verb == "delete":
				if gone++; !over[x.Name] {
					t.Errorf("exit code %s: %s went without a last status", code, x.Name)
				}
			}
		}
		if gone != 5 {
			t.Errorf("%d pods went", gone)
		}
	}
}

// A drain evicts each pod of the node, except those of DaemonSets. If a budget refuses, it retries
// every five seconds until its timeout.
//
// kubectl asserts the same: k8s.io/kubectl/pkg/drain, TestDeleteOrEvict, and
// pkg/cmd/drain, TestDrain (v0.37.2).
func TestDrain(t *testing.T) {
	agent := strings.NewReplacer("Deployment", "DaemonSet", `"replicas":5,`, "", "web", "agent").Replace(web)
	budget := `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"web","namespace":"default"},
		"spec":{"maxUnavailable":0,"selector":{"matchLabels":{"app":"web"}}}}`
	for _, tt := range []struct {
		name   string
		budget bool
		drain  action.Drain
		want   []string // the answer for each pod of the Deployment, and its time
	}{
		{"no budget", false, action.Drain{Node: "a"}, []string{"1m0s 201"}},
		{"until its time is over", true, action.Drain{Node: "a", Timeout: metav1.Duration{Duration: 12 * time.Second}}, []string{"1m0s 429", "1m5s 429", "1m10s 429"}},
		{"budgets are not asked", true, action.Drain{Node: "a", DisableEviction: true}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := fiveLived(t, func(cfg *cluster.Config) {
				cfg.Until = 2 * time.Minute
				cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "DaemonSet", Namespace: "default", Name: "agent", Body: json.RawMessage(agent)})
				if tt.budget {
					cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "PodDisruptionBudget", Namespace: "default", Name: "web", Body: json.RawMessage(budget)})
				}
				cfg.Script = []cluster.Entry{{At: time.Minute, Action: &tt.drain}}
			})
			asked := map[string][]string{}
			for _, s := range l.trace.Steps {
				if x, ok := s.Detail.(kube.Exchange); ok && x.Subresource == "eviction" {
					asked[x.Name] = append(asked[x.Name], fmt.Sprint(s.At.Truncate(time.Second), " ", x.Status))
				}
			}
			if len(asked) == 0 && tt.want != nil {
				t.Error("nobody was asked for")
			}
			for name, got := range asked {
				if !strings.HasPrefix(name, "web-") || !slices.Equal(got, tt.want) {
					t.Errorf("%s: %q, want %q of each pod of the Deployment", name, got, tt.want)
				}
			}
			stayed, agents := 0, 0
			for _, p := range l.pods {
				if on := p.Spec.NodeName == "a"; on && strings.HasPrefix(p.Name, "agent-") {
					agents++
				} else if on {
					stayed++
				}
			}
			if refused := tt.drain.Timeout.Duration > 0; agents != 1 || (stayed > 0) != refused || refused && stayed != len(asked) {
				t.Errorf("%d pods stayed, %d were asked for; %d of the DaemonSet", stayed, len(asked), agents)
			}
		})
	}
}

// No watcher has to list again because history was compacted: bookmarks keep its resource
// version recent.
func TestIdleHour(t *testing.T) {
	l := fiveLived(t, func(cfg *cluster.Config) { cfg.Until = time.Hour })
	again, idle, of := 0, 0, map[string]int{}
	for _, s := range l.trace.Steps {
		if s.At < time.Minute {
			continue
		}
		idle++
		if x, ok := s.Detail.(kube.Exchange); ok {
			of[fmt.Sprint(s.Choice.Op.Actor, " ", x.Verb, " ", x.Resource)]++
			if x.Verb == "list" {
				again++
				t.Log(s.At, s.Choice.Op.Actor, s.Choice.Op.Key)
			}
		}
	}
	if again > 0 {
		t.Errorf("%d lists after the first minute", again)
	}
	if idle > 100 {
		t.Errorf("%d steps after the first minute: %v", idle, of)
	}
	t.Logf("%d steps, %d after the first minute: %v", len(l.trace.Steps), idle, of)
}

// A run leaves nothing behind.
func TestMemory(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for range 5 {
		fiveLived(t, nil) // what packages build once
	}
	const runs = 20
	before := heap()
	for range runs {
		fiveLived(t, nil)
	}
	if grown := (int64(heap()) - int64(before)) / runs; grown > 64<<10 {
		t.Errorf("each run leaves %d KiB", grown>>10)
	} else {
		t.Logf("each run leaves %d KiB", grown>>10)
	}
}

// What Kubernetes' own controllers cost: five pods for five minutes.
func BenchmarkFivePods(b *testing.B) {
	for name, set := range map[string]func(control.Env) control.Set{"real": real.New, "simple": nil} {
		b.Run(name, func(b *testing.B) {
			steps := 0
			for b.Loop() {
				l := fiveLived(b, func(cfg *cluster.Config) { cfg.Controllers = set })
				steps = len(l.trace.Steps)
			}
			b.ReportMetric(float64(steps), "steps/op")
		})
	}
}
