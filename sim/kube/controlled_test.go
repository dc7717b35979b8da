package kube_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"

	"ipamsim/sim/kube"
)

// controlled is serve with a server for Kubernetes' own controllers, and a namespace.
func controlled(t *testing.T, f func(ctx context.Context, c *cluster)) {
	t.Helper()
	serve(t, func(ctx context.Context, c *cluster) {
		check(c.ForControllers())
		must(c.core.CoreV1().Namespaces().Create(ctx, namespace("default"), metav1.CreateOptions{}))
		f(ctx, c)
	})
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// Deletion of a namespace only marks it. No object can be created in a terminating or missing
// namespace; existing objects are changed and deleted as before.
//
// Kubernetes asserts the same: apiserver, pkg/admission/plugin/namespace/lifecycle,
// TestAdmissionNamespaceTerminating and TestAdmissionNamespaceDoesNotExist (v0.37.2).
func TestNamespaceLifecycle(t *testing.T) {
	controlled(t, func(ctx context.Context, c *cluster) {
		core := c.core.CoreV1()
		must(core.Namespaces().Create(ctx, namespace("team"), metav1.CreateOptions{}))
		p := must(core.Pods("team").Create(ctx, pod("a", "n"), metav1.CreateOptions{}))
		check(core.Namespaces().Delete(ctx, "team", metav1.DeleteOptions{}))
		if ns := must(core.Namespaces().Get(ctx, "team", metav1.GetOptions{})); ns.Status.Phase != corev1.NamespaceTerminating {
			t.Errorf("deleted, it is %s", ns.Status.Phase)
		}
		_, err := core.Pods("team").Create(ctx, pod("b", "n"), metav1.CreateOptions{})
		if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || !apierrors.IsForbidden(err) {
			t.Errorf("created in a namespace that goes: %v", err)
		}
		p.Labels["x"] = "y"
		must(core.Pods("team").Update(ctx, p, metav1.UpdateOptions{}))
		check(core.Pods("team").Delete(ctx, "a", *metav1.NewDeleteOptions(0)))
		if _, err := core.Pods("nowhere").Create(ctx, pod("b", "n"), metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("created in no namespace: %v", err)
		}
		if err := core.Namespaces().Delete(ctx, "default", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("default was deleted: %v", err)
		}
		check(finalize(ctx, c, "team"))
		if _, err := core.Namespaces().Get(ctx, "team", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("empty and finalized, it is still there: %v", err)
		}
	})
}

// finalize is what the namespace controller does in the end.
func finalize(ctx context.Context, c *cluster, name string) error {
	ns := must(c.core.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}))
	ns.Spec.Finalizers = nil
	_, err := c.core.CoreV1().Namespaces().Finalize(ctx, ns, metav1.UpdateOptions{})
	return err
}

// A pod gets default tolerations of five minutes and the priority of its class, and a new node is
// not ready. Initial objects are unchanged.
func TestAdmission(t *testing.T) {
	controlled(t, func(ctx context.Context, c *cluster) {
		core := c.core.CoreV1()
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 7}
		must(c.core.SchedulingV1().PriorityClasses().Create(ctx, class, metav1.CreateOptions{}))
		p := pod("a", "n")
		p.Spec.PriorityClassName = "high"
		p.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64)}}
		p = must(core.Pods("default").Create(ctx, p, metav1.CreateOptions{}))
		seconds := map[string]int64{}
		for _, x := range p.Spec.Tolerations {
			seconds[x.Key] = *x.TolerationSeconds
		}
		if len(seconds) != 2 || seconds[corev1.TaintNodeNotReady] != 300 || seconds[corev1.TaintNodeUnreachable] != 0 || *p.Spec.Priority != 7 {
			t.Errorf("tolerates %v, priority %d", seconds, *p.Spec.Priority)
		}
		p = pod("b", "n")
		p.Spec.PriorityClassName = "low"
		if _, err := core.Pods("default").Create(ctx, p, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("a class that is not there: %v", err)
		}
		n := must(core.Nodes().Create(ctx, node("new"), metav1.CreateOptions{}))
		found := must(core.Nodes().Create(kube.AsFound(ctx), node("found"), metav1.CreateOptions{}))
		if len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != corev1.TaintNodeNotReady || len(found.Spec.Taints) != 0 {
			t.Errorf("a new node has %v, a found one %v", n.Spec.Taints, found.Spec.Taints)
		}
	})
}

func node(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }

// An eviction that a budget does not allow is refused, and one that it allows is counted.
//
// Kubernetes asserts the same: pkg/registry/core/pod/storage, TestEviction (v1.37.2).
func TestEvictionMeetsBudget(t *testing.T) {
	controlled(t, func(ctx context.Context, c *cluster) {
		one := intstr.FromInt32(1)
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
		budgets := c.core.PolicyV1().PodDisruptionBudgets("default")
		b = must(budgets.Create(ctx, b, metav1.CreateOptions{}))
		p := must(c.core.CoreV1().Pods("default").Create(ctx, pod("a", "n"), metav1.CreateOptions{}))
		p.Status.Phase = corev1.PodRunning
		must(c.core.CoreV1().Pods("default").UpdateStatus(ctx, p, metav1.UpdateOptions{}))
		evict := func() error {
			return c.core.PolicyV1().Evictions("default").Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}})
		}
		b.Status.ObservedGeneration = 1
		b = must(budgets.UpdateStatus(ctx, b, metav1.UpdateOptions{}))
		if err := evict(); !apierrors.IsTooManyRequests(err) {
			t.Errorf("no disruption is allowed: %v", err)
		}
		b.Status.DisruptionsAllowed = 1
		must(budgets.UpdateStatus(ctx, b, metav1.UpdateOptions{}))
		check(evict())
		if left := must(budgets.Get(ctx, "b", metav1.GetOptions{})).Status; left.DisruptionsAllowed != 0 || len(left.DisruptedPods) != 1 {
			t.Errorf("evicted: %+v", left)
		}
	})
}

// Every resource in Discovery can be listed, with the scope given there.
func TestDiscovery(t *testing.T) {
	controlled(t, func(ctx context.Context, c *cluster) {
		var names []string
		for _, l := range must(c.Discovery()) {
			for _, r := range l.APIResources {
				names = append(names, r.Name)
				path := "/apis/" + l.GroupVersion
				if r.Group == "" {
					path = "/api/" + l.GroupVersion
				}
				if r.Namespaced {
					path += "/namespaces/default"
				}
				if err := c.core.CoreV1().RESTClient().Get().AbsPath(path, r.Name).Do(ctx).Error(); err != nil || r.Kind == "" || !slices.Contains(r.Verbs, "watch") {
					t.Errorf("%s %s: %v", l.GroupVersion, r.Name, err)
				}
			}
		}
		for _, want := range []string{"pods", "nodes", "ippools", "poddisruptionbudgets", "network-attachment-definitions"} {
			if !slices.Contains(names, want) {
				t.Errorf("no %s in %s", want, strings.Join(names, " "))
			}
		}
	})
}

// A watch without events gets a bookmark with the current resource version after a minute.
func TestBookmarks(t *testing.T) {
	for _, want := range []bool{true, false} {
		serve(t, func(ctx context.Context, c *cluster) {
			if want {
				check(c.ForControllers())
			}
			from := must(c.core.CoreV1().Namespaces().Create(ctx, namespace("a"), metav1.CreateOptions{})).ResourceVersion
			w := must(c.core.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{ResourceVersion: from, AllowWatchBookmarks: true}))
			last := must(c.core.CoreV1().Namespaces().Create(ctx, namespace("default"), metav1.CreateOptions{})).ResourceVersion
			c.run.Pump()
			go func() {
				for range 30 { // as the kernel does after each step
					time.Sleep(6 * time.Second)
					c.run.Pump()
				}
				w.Stop()
			}()
			var got []string
			for e := range w.ResultChan() {
				if e.Type != watch.Bookmark {
					t.Errorf("%s %v", e.Type, e.Object)
					continue
				}
				got = append(got, e.Object.(*corev1.Node).ResourceVersion)
			}
			if want != (len(got) > 0) || want && got[0] != last {
				t.Errorf("asked for controllers %v: bookmarks %v, want %s", want, got, last)
			}
		})
	}
}
