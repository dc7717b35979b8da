package controlplane_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const web = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
`

// pinned returns a pod on a node; it tolerates an unreachable node for some seconds.
func pinned(name, node, seconds string) string {
	return `
apiVersion: v1
kind: Pod
metadata: {name: ` + name + `}
spec:
  nodeName: ` + node + `
  containers: [{name: c, image: i}]
  tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: ` + seconds + `}]
`
}

// Each pod stays on an unreachable node for its toleration, or for five minutes; the node is
// unreachable 50 s after its last heartbeat, which the monitor detects within 5 s.
//
// Kubernetes asserts the same: test/integration/node, TestTaintBasedEvictions (v1.37.2).
func TestTolerationSeconds(t *testing.T) {
	plain := strings.Split(pinned("plain", "a", "0"), "  tolerations")[0]
	all := strings.Join([]string{pinned("zero", "a", "0"), pinned("minute", "a", "60"), plain}, "\n---\n")
	w, _, _ := live(t, 10*time.Minute, all, func(_ context.Context, w *world) {
		time.Sleep(time.Minute)
		w.silent["a"] = true
	})
	silent := w.when(t, "node a", "unreachable:NoExecute")
	if silent < 110*time.Second-10*time.Second || silent > 116*time.Second {
		t.Errorf("unreachable at %v", silent)
	}
	for name, after := range map[string]time.Duration{"zero": 0, "minute": time.Minute, "plain": 5 * time.Minute} {
		at := w.when(t, "pod "+name+" deleted", "DeletionByTaintManager")
		if at < silent+after || at > silent+after+2*time.Second {
			t.Errorf("%s was deleted at %v, the node was unreachable at %v", name, at, silent)
		}
	}
}

// If every node of the only zone is unreachable, none is tainted NoExecute, and no pod is
// deleted; once one is reachable again, the pods of the others are deleted.
//
// Kubernetes asserts the same: pkg/controller/nodelifecycle, TestMonitorNodeHealth, "No
// Disruption: Initially both zones down, one comes back", and node_lifecycle_controller.go,
// processTaintBaseEviction and handleDisruption (v1.37.2).
func TestFullDisruption(t *testing.T) {
	all := strings.Join([]string{pinned("one", "a", "0"), pinned("two", "b", "0")}, "\n---\n")
	w, _, _ := live(t, 20*time.Minute, all, func(_ context.Context, w *world) {
		time.Sleep(time.Minute)
		w.silent["a"], w.silent["b"], w.silent["c"] = true, true, true
		time.Sleep(10 * time.Minute)
		if got := w.lines("deleted"); got != nil {
			t.Errorf("all are silent: %q", got)
		}
		w.silent["a"] = false
		w.ready("a")
	})
	if got := w.lines("deleted"); len(got) != 1 || !strings.Contains(got[0], "pod two") {
		t.Errorf("one is back: %q", got)
	}
}

// ready is the node condition that a resumed kubelet reports.
func (w *world) ready(name string) {
	n := must(w.CoreV1().Nodes().Get(context.Background(), name, metav1.GetOptions{}))
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}}
	must(w.CoreV1().Nodes().UpdateStatus(context.Background(), n, metav1.UpdateOptions{}))
}

// A changed template replaces the pods: ReplicaSets never scale to more than 25 % over the
// number, rounded up, and at least 75 % of it are ready.
//
// Kubernetes asserts the same: pkg/controller/deployment, rolling_test.go, and
// test/integration/deployment, TestDeploymentRollingUpdate (v1.37.2).
func TestRollout(t *testing.T) {
	w, _, _ := live(t, 5*time.Minute, web, func(ctx context.Context, w *world) {
		time.Sleep(time.Minute)
		must(w.AppsV1().Deployments("default").Patch(ctx, "web", types.StrategicMergePatchType,
			[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"new"}]}}}}`), metav1.PatchOptions{}))
	})
	ready, least := 0, 4
	for _, line := range w.story {
		at := must(time.ParseDuration(strings.Fields(line)[0]))
		switch {
		case strings.HasSuffix(line, " Running"):
			ready++
		case strings.Contains(line, " deleted"):
			ready--
		}
		if at >= time.Minute {
			least = min(least, ready)
		}
	}
	if len(w.lines("made")) != 8 || len(w.lines("gone")) != 4 || w.most != 5 || least != 3 {
		t.Errorf("%d made, %d gone; at most %d, at least %d ready", len(w.lines("made")), len(w.lines("gone")), w.most, least)
	}
}

// A DaemonSet has no pod on a node with a taint that it does not tolerate.
//
// Kubernetes asserts the same: pkg/controller/daemon,
// TestTaintedNodeDaemonDoesNotLaunchIntolerantPod and
// TestTaintedNodeDaemonLaunchesToleratePod (v1.37.2).
func TestDaemonSetAndTaint(t *testing.T) {
	daemons := func(name, tolerations string) string {
		return `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: ` + name + `}
spec:
  selector: {matchLabels: {app: ` + name + `}}
  template:
    metadata: {labels: {app: ` + name + `}}
    spec: {containers: [{name: c, image: i}], tolerations: [` + tolerations + `]}
`
	}
	all := daemons("agent", "") + "\n---\n" + daemons("tolerant", `{key: node-role.kubernetes.io/control-plane, effect: NoSchedule}`) + `
---
apiVersion: v1
kind: Node
metadata: {name: master}
spec: {taints: [{key: node-role.kubernetes.io/control-plane, effect: NoSchedule}]}
status:
  conditions: [{type: Ready, status: "True", lastHeartbeatTime: "2000-01-01T00:00:00Z", lastTransitionTime: "2000-01-01T00:00:00Z"}]
  allocatable: {cpu: "8", memory: 32Gi, pods: "110"}
`
	w, _, _ := live(t, time.Minute, all, nil)
	if got := w.lines("bound to master"); len(got) != 1 || !strings.Contains(got[0], "pod tolerant-") {
		t.Errorf("on the tainted node: %q", got)
	}
	if got := w.lines("pod agent-", "bound"); len(got) != 3 {
		t.Errorf("on the others: %q", got)
	}
}

// A deleted namespace is removed when it is empty, and no pod is created in it again.
//
// Kubernetes asserts the same: pkg/controller/namespace/deletion,
// TestSyncNamespaceThatIsTerminatingV1, and test/integration/namespace (v1.37.2).
func TestNamespaceDeletion(t *testing.T) {
	all := "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n---\n" + strings.Replace(web, "name: web}", "name: web, namespace: team}", 1)
	w, _, _ := live(t, 3*time.Minute, all, func(ctx context.Context, w *world) {
		time.Sleep(time.Minute)
		check(w.CoreV1().Namespaces().Delete(ctx, "team", metav1.DeleteOptions{}))
		time.Sleep(time.Minute)
		if l := must(w.AppsV1().ReplicaSets("team").List(ctx, metav1.ListOptions{})); len(l.Items) != 0 {
			t.Errorf("%d ReplicaSets are left", len(l.Items))
		}
	})
	gone := w.when(t, "namespace team gone")
	if last := w.story[len(w.story)-1]; !strings.Contains(last, "namespace team gone") || gone < time.Minute {
		t.Errorf("the last was: %s", last)
	}
	if made, left := len(w.lines("made")), len(w.lines("pod", "gone")); made != 4 || left != 4 {
		t.Errorf("%d made, %d gone", made, left)
	}
}

// A Job replaces each failed pod, with growing delays, and fails when more pods have failed
// than its back-off limit.
//
// Kubernetes asserts the same: pkg/controller/job, TestSingleJobFailedCondition,
// TestJobBackoff (10 s, doubled) and TestJobBackoffOnRestartPolicyNever (v1.37.2).
func TestJobFails(t *testing.T) {
	w, _, _ := live(t, 5*time.Minute, `
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  backoffLimit: 2
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: fail}]}}
`, func(ctx context.Context, w *world) {
		time.Sleep(4 * time.Minute)
		j := must(w.BatchV1().Jobs("default").Get(ctx, "once", metav1.GetOptions{}))
		if !slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue && c.Reason == batchv1.JobReasonBackoffLimitExceeded
		}) {
			t.Errorf("%+v", j.Status)
		}
	})
	var made []time.Duration
	for _, line := range w.story {
		if strings.HasSuffix(line, " made") {
			made = append(made, must(time.ParseDuration(strings.Fields(line)[0])))
		}
	}
	if len(made) != 3 || made[1]-made[0] < 10*time.Second || made[2]-made[1] < 20*time.Second {
		t.Errorf("made at %v", made)
	}
}

// The dependents of a deleted Deployment are collected; orphaned dependents are not.
//
// Kubernetes asserts the same: test/integration/garbagecollector, TestCascadingDeletion
// and TestOrphaning (v1.37.2).
func TestOwnerDeleted(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		t.Run(string(policy), func(t *testing.T) {
			w, _, _ := live(t, 3*time.Minute, strings.Replace(web, "replicas: 4", "replicas: 20", 1), func(ctx context.Context, w *world) {
				time.Sleep(time.Minute)
				check(w.AppsV1().Deployments("default").Delete(ctx, "web", metav1.DeleteOptions{PropagationPolicy: &policy}))
			})
			want := 20
			if policy == metav1.DeletePropagationOrphan {
				want = 0
			}
			if got := len(w.lines("pod", "gone")); got != want {
				t.Errorf("%d pods gone, want %d", got, want)
			}
		})
	}
}

// The pods of a deleted node are removed by the pod garbage collector.
//
// Kubernetes asserts the same: pkg/controller/podgc, TestGCOrphaned (v1.37.2).
func TestNodeDeleted(t *testing.T) {
	w, _, _ := live(t, 3*time.Minute, pinned("x", "a", "600"), func(ctx context.Context, w *world) {
		time.Sleep(time.Minute)
		w.silent["a"] = true
		check(w.CoreV1().Nodes().Delete(ctx, "a", metav1.DeleteOptions{}))
	})
	if at := w.when(t, "pod x gone"); at < 100*time.Second || at > 125*time.Second { // a quarantine of 40 s, checked every 20 s
		t.Errorf("gone at %v", at)
	}
}

// No more pods are created than a quota allows; the missing ones follow when it allows more.
//
// Kubernetes asserts the same: test/integration/quota, TestQuota (v1.37.2).
func TestQuota(t *testing.T) {
	quota := "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: \"3\"}}\n---\n"
	w, _, _ := live(t, 5*time.Minute, quota+web, func(ctx context.Context, w *world) {
		time.Sleep(time.Minute)
		q := must(w.CoreV1().ResourceQuotas("default").Get(ctx, "q", metav1.GetOptions{}))
		if used := q.Status.Used[corev1.ResourcePods]; used.Value() != 3 || len(w.lines("made")) != 3 {
			t.Errorf("%d made, %s are used", len(w.lines("made")), used.String())
		}
		must(w.CoreV1().ResourceQuotas("default").Patch(ctx, "q", types.MergePatchType, []byte(`{"spec":{"hard":{"pods":"9"}}}`), metav1.PatchOptions{}))
	})
	if got := len(w.lines("made")); got != 4 {
		t.Errorf("%d made", got)
	}
}

// A pod without room preempts pods of a lower class.
//
// Kubernetes asserts the same: test/integration/scheduler/preemption, TestPreemption
// (v1.37.2).
func TestPreemption(t *testing.T) {
	pod := func(name, class, cpu string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec:\n  priorityClassName: " + class +
			"\n  terminationGracePeriodSeconds: 0\n  containers: [{name: c, image: i, resources: {requests: {cpu: \"" + cpu + "\"}}}]\n"
	}
	class := func(name, value string) string {
		return "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: " + name + "}\nvalue: " + value + "\n"
	}
	all := strings.Join([]string{class("low", "1"), class("high", "2"), pod("a", "low", "6"), pod("b", "low", "6"), pod("c", "low", "6")}, "---\n")
	w, _, _ := live(t, 5*time.Minute, all, func(_ context.Context, w *world) {
		time.Sleep(time.Minute)
		w.apply(context.Background(), pod("d", "high", "5"))
		w.apply(context.Background(), pod("e", "low", "5"))
	})
	if gone := w.lines("deleted PreemptionByScheduler"); len(gone) != 1 || len(w.lines("pod d", "Running")) != 1 || len(w.lines("pod e", "bound")) != 0 {
		t.Errorf("preempted: %q, high: %q, low: %q", gone, w.lines("pod d"), w.lines("pod e"))
	}
}
