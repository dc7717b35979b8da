package simple

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/component-helpers/resource"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"ipamsim/sim"
	"ipamsim/sim/cluster/control"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/kube"
)

// startScheduler binds pods to nodes, one after another: to the ready node with the fewest pods of
// the same owner, then the fewest pods, then the first by name. The spreading of the real scheduler
// has the same result in an otherwise empty cluster.
func (c *controllers) startScheduler() {
	in := c.Feed.Subscribe(func(ch kube.Change) bool {
		p, ok := ch.Object.(*corev1.Pod)
		if ok {
			return p.Spec.NodeName == "" && p.DeletionTimestamp == nil
		}
		return ch.Resource == "nodes" // a pod may wait for one
	})
	c.World.Spawn(sim.Process{ID: "scheduler", Run: func(ctx context.Context, g *sim.Gate) error {
		s := scheduler{c: c, client: kubeapi.New(c.API.Transport(g)), bound: map[string]string{}}
		for {
			s.bindAll(ctx)
			if _, err := in.Next(ctx, g); err != nil {
				return err
			}
		}
	}})
}

type scheduler struct {
	c      *controllers
	client kubeapi.Client
	bound  map[string]string // uid → node: bindings made, whether the change has been received or not
}

func (s *scheduler) bindAll(ctx context.Context) {
	for _, p := range s.pending() {
		n := s.choose(p)
		if n == "" {
			continue
		}
		body := `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"` + p.Name + `","uid":"` + string(p.UID) +
			`"},"target":{"apiVersion":"v1","kind":"Node","name":"` + n + `"}}`
		for {
			_, err := s.client.Do(ctx, http.MethodPost, kubeapi.Pods.Path(p.Namespace, p.Name)+"/binding", "application/json", []byte(body))
			if err == nil || apierrors.IsConflict(err) {
				s.bound[string(p.UID)] = n
				break
			}
			if apierrors.IsNotFound(err) || !kubeapi.Sleep(ctx, s.c.Timers.APIRetry) {
				break
			}
		}
	}
}

// pending are the pods that want a node of this scheduler.
func (s *scheduler) pending() []*corev1.Pod {
	return s.c.Stored.Pods(func(p *corev1.Pod) bool {
		mine := p.Spec.SchedulerName == "" || p.Spec.SchedulerName == corev1.DefaultSchedulerName
		return mine && p.Spec.NodeName == "" && p.DeletionTimestamp == nil && s.bound[string(p.UID)] == ""
	})
}

func (s *scheduler) choose(p *corev1.Pod) string {
	type load struct{ same, all int }
	loads := map[string]load{}
	wants := requests(p)
	taken := map[string]corev1.ResourceList{}
	s.c.Stored.EachPod(func(q *corev1.Pod) {
		n := cmp.Or(q.Spec.NodeName, s.bound[string(q.UID)])
		l := loads[n]
		l.all++
		if owner(q) != "" && owner(q) == owner(p) && q.Labels[appsv1.DefaultDeploymentUniqueLabelKey] == p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] {
			l.same++
		}
		loads[n] = l
		if len(wants) > 0 && n != "" && !kubeapi.Finished(q) {
			taken[n] = sum(taken[n], requests(q))
		}
	})
	best := ""
	for _, name := range s.c.Stored.Nodes() {
		obj, _ := s.c.Stored.Node(name)
		a, b := loads[name], loads[best]
		if !fits(obj, p) || a.all >= podsMax(obj) || !within(sum(taken[name], wants), wants, obj) {
			continue
		}
		if best == "" || cmp.Or(cmp.Compare(a.same, b.same), cmp.Compare(a.all, b.all)) < 0 {
			best = name
		}
	}
	return best
}

// fits: registered, not cordoned, no taint that the pod does not tolerate, and the pod's
// node selector and affinity match. A silent node is tainted.
func fits(n *corev1.Node, p *corev1.Pod) bool {
	if n == nil {
		return false
	}
	taints := n.Spec.Taints
	if n.Spec.Unschedulable {
		taints = append(slices.Clone(taints), corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	if !ready(n) {
		taints = append(slices.Clone(taints), unreachable(corev1.TaintEffectNoSchedule))
	}
	return !refuses(taints, p, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute) && matches(n, p)
}

// refuses reports whether one of the taints with these effects is not tolerated by a pod.
func refuses(taints []corev1.Taint, p *corev1.Pod, effects ...corev1.TaintEffect) bool {
	_, found := scheduling.FindMatchingUntoleratedTaint(logr.Discard(), taints, p.Spec.Tolerations, func(t *corev1.Taint) bool { return slices.Contains(effects, t.Effect) }, false)
	return found
}

// matches reports whether a node is one that a pod selects.
func matches(n *corev1.Node, p *corev1.Pod) bool {
	ok, err := nodeaffinity.GetRequiredNodeAffinity(p).Match(n)
	return ok && err == nil
}

// podsMax is the number of pods that a node takes: the number in its status, or the kubelet's
// default.
func podsMax(n *corev1.Node) int {
	if q, ok := n.Status.Allocatable[corev1.ResourcePods]; ok {
		return int(q.Value())
	}
	return 110
}

// requests are the resources that a pod's containers request.
func requests(p *corev1.Pod) corev1.ResourceList {
	return resource.PodRequests(p, resource.PodResourcesOptions{})
}

func sum(a, b corev1.ResourceList) corev1.ResourceList {
	out := a.DeepCopy()
	if out == nil {
		out = corev1.ResourceList{}
	}
	for what, n := range b {
		total := out[what]
		total.Add(n)
		out[what] = total
	}
	return out
}

// within reports whether a node has the wanted resources in addition to those taken. A node
// without a capacity has that of Machine.
func within(taken, wants corev1.ResourceList, n *corev1.Node) bool {
	for what := range wants {
		has, said := n.Status.Allocatable[what]
		if !said {
			has = control.Machine()[what]
		}
		if need := taken[what]; need.Cmp(has) > 0 {
			return false
		}
	}
	return true
}

func ready(n *corev1.Node) bool {
	for _, cond := range n.Status.Conditions {
		if cond.Type == corev1.NodeReady {
			return cond.Status == corev1.ConditionTrue
		}
	}
	return false
}
