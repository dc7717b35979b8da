package kube_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"ipamsim/sim/kube"
)

// A quota counts new objects and refuses those beyond its limit, after the controller has processed
// the quota. Initial objects are neither counted nor refused.
//
// Kubernetes asserts the same: plugin/pkg/admission/resourcequota,
// TestAdmitExceedQuotaLimit and TestAdmitBelowQuotaLimit (v1.37.2).
func TestResourceQuota(t *testing.T) {
	controlled(t, func(ctx context.Context, c *cluster) {
		core := c.core.CoreV1()
		q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse("1")}}}
		q = must(core.ResourceQuotas("default").Create(ctx, q, metav1.CreateOptions{}))
		must(core.Pods("default").Create(ctx, pod("early", "n"), metav1.CreateOptions{})) // upstream knows of no limit before the controller has been there
		q.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: corev1.ResourceList{"pods": resource.MustParse("0")}}
		must(core.ResourceQuotas("default").UpdateStatus(ctx, q, metav1.UpdateOptions{}))
		must(core.Pods("default").Create(ctx, pod("a", "n"), metav1.CreateOptions{}))
		if _, err := core.Pods("default").Create(ctx, pod("b", "n"), metav1.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1") {
			t.Errorf("one too many: %v", err)
		}
		must(core.Pods("default").Create(kube.AsFound(ctx), pod("found", "n"), metav1.CreateOptions{}))
		if used := must(core.ResourceQuotas("default").Get(ctx, "q", metav1.GetOptions{})).Status.Used["pods"]; used.Value() != 1 {
			t.Errorf("%s pods are used", used.String())
		}
	})
}

// A limit range sets missing requests of containers and refuses containers that request more.
//
// Kubernetes asserts the same: plugin/pkg/admission/limitranger,
// TestMergePodResourceRequirements and TestPodLimitFunc (v1.37.2).
func TestLimitRange(t *testing.T) {
	controlled(t, func(ctx context.Context, c *cluster) {
		core := c.core.CoreV1()
		must(core.Pods("default").Create(ctx, pod("before", "n"), metav1.CreateOptions{}))
		cpu := func(s string) corev1.ResourceList {
			return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(s)}
		}
		must(core.LimitRanges("default").Create(ctx, &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: corev1.LimitRangeSpec{
			Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, DefaultRequest: cpu("100m"), Default: cpu("1"), Max: cpu("2")}},
		}}, metav1.CreateOptions{}))
		p := must(core.Pods("default").Create(ctx, pod("a", "n"), metav1.CreateOptions{}))
		if got := p.Spec.Containers[0].Resources.Requests.Cpu().String(); got != "100m" {
			t.Errorf("it requests %q", got)
		}
		much := pod("b", "n")
		much.Spec.Containers[0].Resources.Limits = cpu("3")
		if _, err := core.Pods("default").Create(ctx, much, metav1.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "maximum cpu usage per Container is 2, but limit is 3") {
			t.Errorf("too much: %v", err)
		}
	})
}

// The classes of system components are there in every cluster.
func TestSystemPriorityClasses(t *testing.T) {
	controlled(t, func(ctx context.Context, c *cluster) {
		p := pod("a", "n")
		p.Spec.PriorityClassName = "system-node-critical"
		if p = must(c.core.CoreV1().Pods("default").Create(ctx, p, metav1.CreateOptions{})); *p.Spec.Priority != 2000001000 {
			t.Errorf("its priority is %d", *p.Spec.Priority)
		}
	})
}

// The mapper knows which resources are in namespaces.
func TestScopes(t *testing.T) {
	controlled(t, func(_ context.Context, c *cluster) {
		m := c.Mapper()
		for _, l := range must(c.Discovery()) {
			gv := must(schema.ParseGroupVersion(l.GroupVersion))
			for _, r := range l.APIResources {
				got := must(m.RESTMapping(gv.WithKind(r.Kind).GroupKind(), gv.Version))
				if root := got.Scope.Name() == meta.RESTScopeNameRoot; root == r.Namespaced {
					t.Errorf("%s: scope %s", r.Name, got.Scope.Name())
				}
			}
		}
	})
}
