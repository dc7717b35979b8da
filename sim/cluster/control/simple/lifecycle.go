package simple

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
)

// startNodeLifecycle replaces three controllers of kube-controller-manager that handle the pods of
// a silent or deleted node: node-lifecycle (taints.go), taint-eviction (eviction.go) and pod
// garbage collection (podgc.go).
//
// Heartbeats are not messages here: the controller reads the actual state of the machine.
func (c *controllers) startNodeLifecycle() {
	c.World.Spawn(sim.Process{ID: "node-lifecycle", Run: func(ctx context.Context, g *sim.Gate) error {
		l := lifecycle{c: c, client: kubeapi.New(c.API.Transport(g)), tainted: map[string]time.Duration{}, back: map[string]bool{}}
		for {
			wait := l.sync(ctx)
			t := time.NewTimer(wait)
			select {
			case <-c.nodeChanged:
			case <-t.C:
			case <-ctx.Done():
			}
			t.Stop()
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}})
}

type lifecycle struct {
	c       *controllers
	client  kubeapi.Client
	next    time.Duration               // until the next sync is due
	back    map[string]bool             // nodes that are ready again: their taints are written, whether there are any or not
	tainted map[string]time.Duration    // when the last node of each zone was tainted NoExecute
	since   map[types.UID]time.Duration // since when there are taints that a pod does not tolerate forever
}

// sync does what is due now and returns the delay until the next sync.
func (l *lifecycle) sync(ctx context.Context) time.Duration {
	l.next = 24 * time.Hour
	for _, do := range []func(context.Context) bool{l.conditions, l.taints, l.evictions, l.orphans} {
		if !do(ctx) {
			l.next = min(l.next, l.c.Timers.APIRetry)
		}
	}
	return l.next
}

// due reports whether it is time; if not, it is looked at again then.
func (l *lifecycle) due(at time.Duration) bool {
	d := at - l.c.World.Now()
	if d > 0 {
		l.next = min(l.next, d)
	}
	return d <= 0
}

// silent reports whether the API server receives no heartbeats of a node's kubelet.
func (l *lifecycle) silent(name string) bool { return !l.c.Machine(name).Healthy() }

// conditions sets each node's Ready condition: true immediately when its kubelet is back, and
// unknown after NodeMonitorGrace of silence; then its pods are no longer ready.
//
// Source: pkg/controller/nodelifecycle, monitorNodeHealth (v1.37.2).
func (l *lifecycle) conditions(ctx context.Context) bool {
	ok := true
	for _, name := range l.c.Stored.Nodes() {
		obj, _ := l.c.Stored.Node(name)
		silent := l.silent(name)
		if obj != nil && silent == ready(obj) && (!silent || l.due(l.c.Machine(name).Since+l.c.Timers.NodeMonitorGrace)) {
			done := l.setReady(ctx, name, !silent)
			l.back[name] = done && !silent
			ok = ok && done
		}
		if obj, _ = l.c.Stored.Node(name); obj != nil && silent && !ready(obj) {
			ok = l.unready(ctx, name) && ok
		}
	}
	return ok
}

// unready marks the pods of a node as not ready. Its kubelet marks them as ready again.
//
// Source: pkg/controller/util/node, MarkPodsNotReady (v1.37.2).
func (l *lifecycle) unready(ctx context.Context, node string) bool {
	ok := true
	for _, p := range l.c.Stored.PodsOn(node) {
		if !podReady(p) {
			continue
		}
		conditions := slices.Clone(p.Status.Conditions)
		for i := range conditions {
			if conditions[i].Type == corev1.PodReady {
				conditions[i].Status = corev1.ConditionFalse
			}
		}
		ok = l.client.Patch(ctx, kubeapi.Pods.Path(p.Namespace, p.Name)+"/status", kubeapi.MergePatch,
			map[string]any{"metadata": map[string]any{"uid": p.UID}, "status": map[string]any{"conditions": conditions}}) == nil && ok
	}
	return ok
}

func (l *lifecycle) setReady(ctx context.Context, name string, up bool) bool {
	status, reason := corev1.ConditionTrue, "KubeletReady"
	if !up {
		status, reason = corev1.ConditionUnknown, "NodeStatusUnknown"
	}
	return l.client.Patch(ctx, kubeapi.Nodes.Path("", name)+"/status", kubeapi.MergePatch, map[string]any{"status": map[string]any{
		"conditions": []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, Reason: reason}}}}) == nil
}
