package kube_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"ipamsim/sim/kube"
)

func TestStaleUpdateConflicts(t *testing.T) {
	serve(t, func(ctx context.Context, c *cluster) {
		pods := c.core.CoreV1().Pods("default")
		old := must(pods.Create(ctx, pod("web", "a"), metav1.CreateOptions{}))
		_, err := pods.Create(ctx, pod("web", "a"), metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			t.Errorf("creating it twice: %v, want AlreadyExists", err)
		}
		newer := old.DeepCopy()
		newer.Labels["v"] = "2"
		must(pods.Update(ctx, newer, metav1.UpdateOptions{}))
		_, err = pods.Update(ctx, old, metav1.UpdateOptions{})
		if !apierrors.IsConflict(err) {
			t.Errorf("an update of what somebody else has updated: %v, want Conflict", err)
		}
		_, err = pods.Get(ctx, "nobody", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("reading what is not there: %v, want NotFound", err)
		}
	})
}

// Whereabouts guards each write of a pool with a JSON patch that tests the
// revision, and retries on this very error and no other.
func TestPatchThatTestsAStaleRevisionIsInvalid(t *testing.T) {
	serve(t, func(ctx context.Context, c *cluster) {
		p := must(c.pools.Create(ctx, pool("p"), metav1.CreateOptions{}))
		read := p.GetResourceVersion()
		p = must(c.pools.Patch(ctx, "p", types.JSONPatchType, claim(read, 1), metav1.PatchOptions{}))
		if n, _, _ := unstructured.NestedMap(p.Object, "spec", "allocations"); len(n) != 1 {
			t.Errorf("allocations %v, want one", n)
		}
		_, err := c.pools.Patch(ctx, "p", types.JSONPatchType, claim(read, 2), metav1.PatchOptions{})
		if !apierrors.IsInvalid(err) {
			t.Errorf("a stale claim: %v, want Invalid", err)
		}
	})
}

func TestPatches(t *testing.T) {
	serve(t, func(ctx context.Context, c *cluster) {
		pods := c.core.CoreV1().Pods("default")
		must(pods.Create(ctx, pod("web", "a"), metav1.CreateOptions{}))
		must(pods.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"1"}}}`), metav1.PatchOptions{}))
		must(pods.Patch(ctx, "web", types.StrategicMergePatchType,
			[]byte(`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`), metav1.PatchOptions{}, "status"))
		p := must(pods.Patch(ctx, "web", types.StrategicMergePatchType,
			[]byte(`{"status":{"conditions":[{"type":"Initialized","status":"True"}]}}`), metav1.PatchOptions{}, "status"))
		if p.Annotations["a"] != "1" || p.Status.Phase != corev1.PodRunning || len(p.Status.Conditions) != 2 {
			t.Errorf("have annotations %v, status %+v; want both conditions merged", p.Annotations, p.Status)
		}
		_, err := pods.Patch(ctx, "web", types.MergePatchType, []byte(`{"spec":{"nodeName":"b"}}`), metav1.PatchOptions{})
		if !apierrors.IsInvalid(err) {
			t.Errorf("moving a pod to another node: %v, want Invalid", err)
		}
	})
}

func TestDeletionIsGraceful(t *testing.T) {
	serve(t, func(ctx context.Context, c *cluster) {
		pods := c.core.CoreV1().Pods("default")
		must(pods.Create(ctx, pod("web", "a"), metav1.CreateOptions{}))
		time.Sleep(time.Hour)
		check(pods.Delete(ctx, "web", metav1.DeleteOptions{}))
		p := must(pods.Get(ctx, "web", metav1.GetOptions{}))
		if at := p.DeletionTimestamp; at == nil || time.Until(at.Time).Round(time.Second) != 30*time.Second {
			t.Errorf("deletionTimestamp %v at %v, want 30 virtual seconds ahead", at, time.Now())
		}
		if age := time.Since(p.CreationTimestamp.Time); age != time.Hour {
			t.Errorf("the pod is %v old, want one virtual hour", age)
		}
		now, uid := int64(0), types.UID("00000000-0000-4000-8000-00000000ffff")
		err := pods.Delete(ctx, "web", metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &uid}})
		if !apierrors.IsConflict(err) {
			t.Errorf("deleting another pod of the same name: %v, want Conflict", err)
		}
		check(pods.Delete(ctx, "web", metav1.DeleteOptions{GracePeriodSeconds: &now}))
		if _, err := pods.Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("after the kubelet's deletion: %v, want NotFound", err)
		}
	})
}

func TestEviction(t *testing.T) {
	serve(t, func(ctx context.Context, c *cluster) {
		pods := c.core.CoreV1().Pods("default")
		must(pods.Create(ctx, pod("web", "a"), metav1.CreateOptions{}))
		must(pods.Patch(ctx, "web", types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`), metav1.PatchOptions{}, "status"))
		check(pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}}))
		if p := must(pods.Get(ctx, "web", metav1.GetOptions{})); p.DeletionTimestamp == nil {
			t.Error("an evicted pod is not being deleted")
		}
	})
}

func TestCustomResourcesAreValidated(t *testing.T) {
	serve(t, func(ctx context.Context, c *cluster) {
		bad := pool("bad")
		unstructured.RemoveNestedField(bad.Object, "spec", "range")
		if _, err := c.pools.Create(ctx, bad, metav1.CreateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.range") {
			t.Errorf("a pool without a range: %v, want Invalid naming spec.range", err)
		}
		extra := pool("extra")
		check(unstructured.SetNestedField(extra.Object, "x", "spec", "nonsense"))
		p := must(c.pools.Create(ctx, extra, metav1.CreateOptions{}))
		if _, ok, _ := unstructured.NestedString(p.Object, "spec", "nonsense"); ok {
			t.Error("a field that the schema does not know was stored")
		}
		nads := must(dynamic.NewForConfig(kube.Config(c.Direct()))).Resource(schema.GroupVersionResource{
			Group: "k8s.cni.cncf.io", Version: "v1", Resource: "network-attachment-definitions"}).Namespace("default")
		must(nads.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
			"metadata": map[string]any{"name": "net1"}, "spec": map[string]any{"config": "{}"}}}, metav1.CreateOptions{}))
		other := must(dynamic.NewForConfig(kube.Config(c.Direct()))).Resource(schema.GroupVersionResource{Group: "no.such", Version: "v1", Resource: "things"})
		if _, err := other.List(ctx, metav1.ListOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("a resource that nobody defined: %v, want NotFound", err)
		}
	})
}

func TestSelectors(t *testing.T) {
	serve(t, func(ctx context.Context, c *cluster) {
		pods := c.core.CoreV1().Pods("default")
		for i := range 4 {
			must(pods.Create(ctx, pod(fmt.Sprint("web-", i), []string{"a", "b"}[i%2]), metav1.CreateOptions{}))
		}
		on := must(c.core.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=a"}))
		if len(on.Items) != 2 || on.Items[1].Name != "web-2" {
			t.Errorf("pods of node a: %v", on.Items)
		}
		if l := must(pods.List(ctx, metav1.ListOptions{LabelSelector: "app=other"})); len(l.Items) != 0 {
			t.Errorf("pods of another app: %v", l.Items)
		}
	})
}

func TestGeneratedNamesAndUIDsRepeat(t *testing.T) {
	name := func() (names string) {
		serve(t, func(ctx context.Context, c *cluster) {
			for range 3 {
				p := pod("", "a")
				p.GenerateName = "web-"
				p = must(c.core.CoreV1().Pods("default").Create(ctx, p, metav1.CreateOptions{}))
				names += p.Name + " " + string(p.UID) + " "
			}
		})
		return names
	}
	if a, b := name(), name(); a != b {
		t.Errorf("names of two runs differ: %q, %q", a, b)
	}
}

// TestEveryResource writes one of each and sees it again.
func TestEveryResource(t *testing.T) {
	serve(t, func(ctx context.Context, c *cluster) {
		var heard []string
		c.OnChange(func(ch kube.Change) { heard = append(heard, ch.Group+"/"+ch.Resource+" "+ch.Namespace+"/"+ch.Name) })
		meta := metav1.ObjectMeta{Name: "x"}
		labels := map[string]string{"app": "x"}
		template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
		once := template
		once.Spec.RestartPolicy = corev1.RestartPolicyNever
		sel := &metav1.LabelSelector{MatchLabels: labels}
		o := metav1.CreateOptions{}
		must(c.core.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: meta}, o))
		must(c.core.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: meta}, o))
		must(c.core.CoreV1().ConfigMaps("x").Create(ctx, &corev1.ConfigMap{ObjectMeta: meta}, o))
		must(c.core.CoreV1().Events("x").Create(ctx, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "x"},
			InvolvedObject: corev1.ObjectReference{Namespace: "x"}}, o))
		must(c.core.CoreV1().Services("x").Create(ctx, &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{ClusterIP: "None", Selector: labels}}, o))
		must(c.core.CoreV1().Services("x").Create(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "y"},
			Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}, o))
		must(c.core.CoordinationV1().Leases("x").Create(ctx, &coordinationv1.Lease{ObjectMeta: meta}, o))
		must(c.core.AppsV1().StatefulSets("x").Create(ctx, &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: sel, Template: template}}, o))
		must(c.core.AppsV1().Deployments("x").Create(ctx, &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: sel, Template: template}}, o))
		must(c.core.AppsV1().ReplicaSets("x").Create(ctx, &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: sel, Template: template}}, o))
		must(c.core.AppsV1().DaemonSets("x").Create(ctx, &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: sel, Template: template}}, o))
		must(c.core.BatchV1().Jobs("x").Create(ctx, &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Template: once}}, o))
		must(c.core.BatchV1().CronJobs("x").Create(ctx, &batchv1.CronJob{ObjectMeta: meta, Spec: batchv1.CronJobSpec{Schedule: "* * * * *",
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: once}}}}, o))
		must(c.pools.Create(ctx, pool("x"), o))
		scale := must(c.core.AppsV1().StatefulSets("x").GetScale(ctx, "x", metav1.GetOptions{}))
		scale.Spec.Replicas = 7
		must(c.core.AppsV1().StatefulSets("x").UpdateScale(ctx, "x", scale, metav1.UpdateOptions{}))
		if s := must(c.core.AppsV1().StatefulSets("x").Get(ctx, "x", metav1.GetOptions{})); *s.Spec.Replicas != 7 {
			t.Errorf("scaled to %d, want 7", *s.Spec.Replicas)
		}
		c.run.Pump()
		want := []string{"/namespaces /x", "/nodes /x", "/configmaps x/x", "/events x/x", "/services x/x", "/services x/y",
			"coordination.k8s.io/leases x/x", "apps/statefulsets x/x", "apps/deployments x/x", "apps/replicasets x/x", "apps/daemonsets x/x",
			"batch/jobs x/x", "batch/cronjobs x/x", "whereabouts.cni.cncf.io/ippools kube-system/x", "apps/statefulsets x/x"}
		if strings.Join(heard, "\n") != strings.Join(want, "\n") {
			t.Errorf("heard of\n%s", strings.Join(heard, "\n"))
		}
		check(c.core.CoreV1().Namespaces().Delete(ctx, "x", metav1.DeleteOptions{}))
		if _, err := c.core.CoreV1().Namespaces().Get(ctx, "x", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("a deleted namespace: %v, want NotFound", err)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if l := must(c.core.CoreV1().Events("").List(ctx, metav1.ListOptions{})); len(l.Items) != 0 {
			t.Error("an event is older than its hour")
		}
	})
}

func TestChangesAreTypedAndShared(t *testing.T) {
	serve(t, func(ctx context.Context, c *cluster) {
		var heard []kube.Change
		c.OnChange(func(ch kube.Change) { heard = append(heard, ch) })
		pods, now := c.core.CoreV1().Pods("default"), int64(0)
		must(pods.Create(ctx, pod("web", "a"), metav1.CreateOptions{}))
		must(pods.Patch(ctx, "web", types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`), metav1.PatchOptions{}, "status"))
		check(pods.Delete(ctx, "web", metav1.DeleteOptions{GracePeriodSeconds: &now}))
		must(c.pools.Create(ctx, pool("p"), metav1.CreateOptions{}))
		c.run.Pump()
		if len(heard) != 5 { // Kubernetes marks a pod as deleted, then deletes it, even without grace
			t.Errorf("heard of %d changes, want 5: %+v", len(heard), heard)
			return
		}
		created, patched, marked, deleted := heard[0], heard[1], heard[2], heard[3]
		p := created.Object.(*corev1.Pod)
		if created.Old != nil || p.ResourceVersion != "2" || p.Spec.RestartPolicy != corev1.RestartPolicyAlways {
			t.Errorf("created: %+v", created)
		}
		if patched.Old != created.Object || patched.Object.(*corev1.Pod).Status.Phase != corev1.PodRunning {
			t.Errorf("patched: %+v", patched)
		}
		if deleted.Object != nil || deleted.Old != marked.Object || deleted.Revision != 5 {
			t.Errorf("deleted: %+v", deleted)
		}
		list := must(c.List(ctx, "ippools"))
		if len(list) != 1 || list[0] != heard[4].Object {
			t.Errorf("listed %v, want the very object of the change", list)
		}
		if l := must(c.List(ctx, "pods")); len(l) != 0 {
			t.Errorf("listed %v", l)
		}
	})
}

func TestTwoRunsOfOneProcessAreEqual(t *testing.T) {
	story := func() string {
		return serve(t, func(ctx context.Context, c *cluster) {
			for i := range 5 {
				must(c.core.CoreV1().Pods("default").Create(ctx, pod(fmt.Sprint("web-", i), "a"), metav1.CreateOptions{}))
				time.Sleep(time.Second)
			}
			p := must(c.pools.Create(ctx, pool("p"), metav1.CreateOptions{}))
			must(c.pools.Patch(ctx, "p", types.JSONPatchType, claim(p.GetResourceVersion(), 1), metav1.PatchOptions{}))
		})
	}
	first := story()
	serve(t, func(ctx context.Context, c *cluster) { // something else in between
		must(c.core.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{}))
	})
	if second := story(); second != first {
		t.Errorf("digests %s and %s", first, second)
	}
}
