package controlplane_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"ipamsim/sim"
	"ipamsim/sim/controlplane"
	"ipamsim/sim/etcd"
	"ipamsim/sim/etcd/etcdtest"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/kube"
	"ipamsim/sim/strategy"
)

var store *etcd.Server

func TestMain(m *testing.M) {
	controlplane.Prepare()
	etcdtest.Main(m, &store)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// world is an API server with Kubernetes' own control plane, three nodes of one zone, and a
// kubelet that makes each pod Running a second after it is bound, and removes it a second
// after it is deleted, as long as its node is reachable.
type world struct {
	*sim.World
	kubernetes.Interface // the script's
	api                  *kube.Server
	silent               map[string]bool
	story                []string
	scales               map[string]int32 // of ReplicaSets
	most                 int32            // the maximum of their sum
	programs             []*sim.Actor     // the control plane
}

// live runs a world: it creates manifests first, then runs script, which sleeps in between.
func live(t testing.TB, until time.Duration, manifests string, script func(ctx context.Context, w *world)) (w *world, trace *sim.Trace, digest string) {
	t.Helper()
	return liveWith(t, 1, until, manifests, script)
}

// liveWith runs several instances of each program, and one is the leader.
func liveWith(t testing.TB, replicas int, until time.Duration, manifests string, script func(ctx context.Context, w *world)) (w *world, trace *sim.Trace, digest string) {
	t.Helper()
	run := store.BeginMemory()
	defer run.End()
	st := strategy.NewTimed(1, strategy.Settings{})
	st.Begin(0)
	w = &world{silent: map[string]bool{}, scales: map[string]int32{}}
	trace, err := sim.Run(context.Background(), sim.Options{Strategy: st, Seed: 1, Limits: sim.Limits{Stuck: 60 * time.Second}}, func(s *sim.World) error {
		w.World = s
		w.api = must(kube.New(run, nil))
		s.Cleanup(w.api.Close)
		check(w.api.ForControllers())
		w.Interface = must(kubernetes.NewForConfig(kube.Config(w.api.Direct()))) // before the script begins
		s.Hooks.Settle = run.Pump
		s.Hooks.End = func() { digest = must(run.Digest()) }
		s.Hooks.Panic = func(id sim.ActorID, v any, stack string) { t.Errorf("%s: %v\n%s", id, v, stack) }
		w.prepare(manifests)
		w.api.OnChange(w.record)
		for n := range replicas {
			w.plane(n, replicas > 1)
		}
		s.Spawn(sim.Process{ID: "kubelets", Run: w.kubelets})
		s.Spawn(sim.Process{ID: "script", Run: func(ctx context.Context, g *sim.Gate) error {
			w.Interface = must(kubernetes.NewForConfig(kube.Config(w.api.Transport(g))))
			if script != nil {
				script(ctx, w)
			}
			time.Sleep(until - s.Now())
			s.Finish()
			return nil
		}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := hermetic.Foreign(); n != 0 {
		t.Errorf("%d foreign wake-ups", n)
	}
	if testing.Verbose() {
		t.Log("\n" + strings.Join(w.story, "\n"))
	}
	return w, trace, digest
}

// plane starts one instance of each program.
func (w *world) plane(n int, elected bool) {
	o := controlplane.Options{Serves: must(w.api.Discovery()), Heard: func(n string) bool { return !w.silent[n] }}
	spawn := func(name string, run func(ctx context.Context, g *sim.Gate, identity string) error) {
		id := fmt.Sprintf("%s-%d", name, n)
		identity := ""
		if elected {
			identity = id
		}
		w.programs = append(w.programs, w.Spawn(sim.Process{ID: sim.ActorID(id), Run: func(ctx context.Context, g *sim.Gate) error { return run(ctx, g, identity) }}))
	}
	spawn("kube-controller-manager", func(ctx context.Context, g *sim.Gate, identity string) error {
		o.Identity = identity
		return controlplane.Controllers(ctx, w.api.Transport(g), o)
	})
	spawn("kube-scheduler", func(ctx context.Context, g *sim.Gate, identity string) error {
		return controlplane.Scheduler(ctx, w.api.Transport(g), nil, identity)
	})
}

func (w *world) prepare(manifests string) {
	ctx := kube.AsFound(context.Background())
	for _, name := range []string{"default", "kube-system", "kube-node-lease"} {
		must(w.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
	}
	for _, name := range []string{"a", "b", "c"} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110"), corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi")}
		must(w.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{}))
	}
	for _, doc := range strings.Split(manifests, "\n---\n") {
		w.apply(ctx, doc)
	}
}

// apply creates the objects of a manifest.
func (w *world) apply(ctx context.Context, doc string) {
	if strings.TrimSpace(doc) == "" {
		return
	}
	var o metav1.PartialObjectMetadata
	check(yaml.Unmarshal([]byte(doc), &o))
	for _, l := range must(w.api.Discovery()) {
		for _, r := range l.APIResources {
			if r.Kind != o.Kind || l.GroupVersion != o.APIVersion {
				continue
			}
			root, ns := "/apis/", ""
			if r.Group == "" {
				root = "/api/"
			}
			if r.Namespaced {
				ns = "default"
				if o.Namespace != "" {
					ns = o.Namespace
				}
			}
			check(w.CoreV1().RESTClient().Post().AbsPath(root+l.GroupVersion).NamespaceIfScoped(ns, r.Namespaced).Resource(r.Name).Body(must(yaml.YAMLToJSON([]byte(doc)))).
				SetHeader("Content-Type", "application/json").Do(ctx).Error())
		}
	}
}

// record writes the history of pods.
func (w *world) record(c kube.Change) {
	say := func(format string, args ...any) {
		w.story = append(w.story, fmt.Sprintf("%v ", w.Now().Round(time.Second))+fmt.Sprintf(format, args...))
	}
	if rs, ok := c.Object.(*appsv1.ReplicaSet); ok {
		w.scales[c.Name] = *rs.Spec.Replicas
		sum := int32(0)
		for _, n := range w.scales {
			sum += n
		}
		w.most = max(w.most, sum)
	}
	p, _ := c.Object.(*corev1.Pod)
	old, _ := c.Old.(*corev1.Pod)
	switch {
	case c.Resource == "nodes" && c.Object != nil && c.Old != nil:
		if is, was := taints(c.Object.(*corev1.Node)), taints(c.Old.(*corev1.Node)); is != was {
			say("node %s taints [%s]", c.Name, is)
		}
	case c.Resource == "namespaces" && c.Object == nil:
		say("namespace %s gone", c.Name)
	case c.Resource != "pods":
	case p == nil:
		say("pod %s gone", c.Name)
	case old == nil:
		say("pod %s made", c.Name)
	case old.Spec.NodeName != p.Spec.NodeName:
		say("pod %s bound to %s", c.Name, p.Spec.NodeName)
	case old.DeletionTimestamp == nil && p.DeletionTimestamp != nil:
		say("pod %s deleted %s", c.Name, why(p))
	case old.Status.Phase != p.Status.Phase:
		say("pod %s %s", c.Name, p.Status.Phase)
	}
}

func taints(n *corev1.Node) string {
	var out []string
	for _, x := range n.Spec.Taints {
		out = append(out, x.Key+":"+string(x.Effect))
	}
	return strings.Join(out, " ")
}

func why(p *corev1.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.DisruptionTarget {
			return c.Reason
		}
	}
	return ""
}

// kubelets advance each pod by a step every second. A pod with the image "fail" fails.
func (w *world) kubelets(ctx context.Context, g *sim.Gate) error {
	mine := must(kubernetes.NewForConfig(kube.Config(w.api.Transport(g)))).CoreV1()
	for {
		if time.Sleep(time.Second); ctx.Err() != nil {
			return ctx.Err()
		}
		pods, err := mine.Pods("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, p := range pods.Items {
			if p.Spec.NodeName == "" || w.silent[p.Spec.NodeName] {
				continue
			}
			switch {
			case p.DeletionTimestamp != nil:
				_ = mine.Pods(p.Namespace).Delete(ctx, p.Name, *metav1.NewDeleteOptions(0))
				continue
			case p.Status.Phase == corev1.PodPending:
				p.Status.Phase = corev1.PodRunning
				p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()})
			case p.Status.Phase == corev1.PodRunning && p.Spec.Containers[0].Image == "fail":
				p.Status.Phase = corev1.PodFailed
			default:
				continue
			}
			_, _ = mine.Pods(p.Namespace).UpdateStatus(ctx, &p, metav1.UpdateOptions{}) // or a second later
		}
	}
}

// lines returns the lines of the story that contain all parts, without their times.
func (w *world) lines(parts ...string) (out []string) {
	for _, line := range w.story {
		if !containsAll(line, parts) {
			continue
		}
		_, what, _ := strings.Cut(line, " ")
		out = append(out, what)
	}
	return out
}

// when returns the time of the first line of the story that contains all parts.
func (w *world) when(t testing.TB, parts ...string) time.Duration {
	t.Helper()
	for _, line := range w.story {
		if containsAll(line, parts) {
			at, _, _ := strings.Cut(line, " ")
			return must(time.ParseDuration(at))
		}
	}
	t.Errorf("never: %s", strings.Join(parts, ", "))
	return 0
}

func containsAll(s string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
