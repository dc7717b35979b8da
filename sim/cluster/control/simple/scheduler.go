package simple

import (
	"cmp"
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/kube"
)

// startScheduler binds pods to nodes, one after another: the ready node with the
// fewest pods of the same owner, then the fewest pods, then the first by name.
// That is what the real scheduler's spreading comes to in an otherwise empty
// cluster.
func (c *controllers) startScheduler() {
	in := c.Feed.Subscribe(func(ch kube.Change) bool {
		p, ok := ch.Object.(*corev1.Pod)
		if ok {
			return p.Spec.NodeName == "" && p.DeletionTimestamp == nil
		}
		return ch.Resource == "nodes" // a pod may wait for one
	})
	c.World.Spawn(sim.Process{ID: "scheduler", Run: func(ctx context.Context, g *sim.Gate) error {
		s := scheduler{c: c, client: kubeapi.New(c.API.Door(g)), bound: map[string]string{}}
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
	bound  map[string]string // uid → node: bindings made, whether heard back of or not
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

func (s *scheduler) pending() []*corev1.Pod {
	return s.c.Stored.Pods(func(p *corev1.Pod) bool {
		return p.Spec.NodeName == "" && p.DeletionTimestamp == nil && s.bound[string(p.UID)] == ""
	})
}

func (s *scheduler) choose(p *corev1.Pod) string {
	type load struct{ same, all int }
	loads := map[string]load{}
	s.c.Stored.EachPod(func(q *corev1.Pod) {
		n := cmp.Or(q.Spec.NodeName, s.bound[string(q.UID)])
		l := loads[n]
		l.all++
		if owner(q) != "" && owner(q) == owner(p) {
			l.same++
		}
		loads[n] = l
	})
	best := ""
	for _, name := range s.c.Stored.Nodes() {
		obj, _ := s.c.Stored.Node(name)
		a, b := loads[name], loads[best]
		if !fits(obj, p) || a.all >= podsMax(obj) {
			continue
		}
		if best == "" || cmp.Or(cmp.Compare(a.same, b.same), cmp.Compare(a.all, b.all)) < 0 {
			best = name
		}
	}
	return best
}

// fits: registered, ready, not cordoned, no taint that the pod does not
// tolerate, and the pod's node selector matches.
func fits(n *corev1.Node, p *corev1.Pod) bool {
	if n == nil || n.Spec.Unschedulable || !ready(n) {
		return false
	}
	for _, t := range n.Spec.Taints {
		if t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(p, t) {
			return false
		}
	}
	return selects(p.Spec.NodeSelector, n.Labels)
}

// podsMax is how many pods a node takes: what it says itself, or kubelet's default.
func podsMax(n *corev1.Node) int {
	if q, ok := n.Status.Allocatable[corev1.ResourcePods]; ok {
		return int(q.Value())
	}
	return 110
}

func ready(n *corev1.Node) bool {
	for _, cond := range n.Status.Conditions {
		if cond.Type == corev1.NodeReady {
			return cond.Status == corev1.ConditionTrue
		}
	}
	return false
}

func tolerates(p *corev1.Pod, t corev1.Taint) bool {
	for _, x := range p.Spec.Tolerations {
		if x.TolerationSeconds == nil && x.ToleratesTaint(&t) {
			return true
		}
	}
	return false
}
