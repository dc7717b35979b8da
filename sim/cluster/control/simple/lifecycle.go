package simple

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
)

// startNodeLifecycle stands for three controllers of kube-controller-manager that
// decide what becomes of pods on a node that is silent or deleted:
// node-lifecycle (after NodeMonitorGrace the node is unreachable and tainted),
// taint-eviction (after Toleration its pods are deleted, gracefully: nobody there
// can confirm it) and pod garbage collection (pods of a deleted Node object are
// removed by force).
//
// Heartbeats are not messages here: the controller notices what is so.
func (c *controllers) startNodeLifecycle() {
	c.World.Spawn(sim.Process{ID: "node-lifecycle", Run: func(ctx context.Context, g *sim.Gate) error {
		l := lifecycle{c: c, client: kubeapi.New(c.API.Door(g))}
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
	c      *controllers
	client kubeapi.Client
}

// sync does what is due now and returns when to look again.
func (l lifecycle) sync(ctx context.Context) time.Duration {
	next := 24 * time.Hour
	due := func(at time.Duration) bool {
		if d := at - l.c.World.Now(); d > 0 {
			next = min(next, d)
			return false
		}
		return true
	}
	t := l.c.Timers
	for _, name := range l.c.Stored.Nodes() {
		state := l.c.Machine(name)
		obj, gone := l.c.Stored.Node(name)
		silent := !state.Up || state.Partitioned || state.Paused
		ok := true
		switch {
		case obj == nil:
			if due(gone + t.PodGC) {
				ok = l.evict(ctx, name, true)
			}
		case !silent && !ready(obj):
			ok = l.setReady(ctx, name, true)
		case silent && ready(obj):
			if due(state.Since + t.NodeMonitorGrace) {
				ok = l.setReady(ctx, name, false)
			}
		case silent:
			if due(state.Since + t.NodeMonitorGrace + t.Toleration) {
				ok = l.evict(ctx, name, false)
			}
		}
		if !ok {
			next = min(next, t.APIRetry)
		}
	}
	return next
}

const unreachable = "node.kubernetes.io/unreachable"

func (l lifecycle) setReady(ctx context.Context, name string, up bool) bool {
	status, reason := corev1.ConditionTrue, "KubeletReady"
	taints := []corev1.Taint{}
	if !up {
		status, reason = corev1.ConditionUnknown, "NodeStatusUnknown"
		taints = append(taints,
			corev1.Taint{Key: unreachable, Effect: corev1.TaintEffectNoSchedule},
			corev1.Taint{Key: unreachable, Effect: corev1.TaintEffectNoExecute})
	}
	path := kubeapi.Nodes.Path("", name)
	err := l.client.Patch(ctx, path+"/status", kubeapi.MergePatch, map[string]any{"status": map[string]any{
		"conditions": []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, Reason: reason}}}})
	if err == nil {
		err = l.client.Patch(ctx, path, kubeapi.MergePatch, map[string]any{"spec": map[string]any{"taints": taints}})
	}
	return err == nil
}

// evict deletes the pods of a node that do not tolerate its silence. By force
// means that nobody is asked: the objects are gone at once.
func (l lifecycle) evict(ctx context.Context, name string, force bool) bool {
	ok := true
	for _, p := range l.c.Stored.PodsOn(name) {
		if !force && (p.DeletionTimestamp != nil || tolerates(p, corev1.Taint{Key: unreachable, Effect: corev1.TaintEffectNoExecute})) {
			continue
		}
		o := kubeapi.Deletion(force)
		o.Preconditions = &metav1.Preconditions{UID: &p.UID}
		reason := "DeletionByTaintManager"
		if force {
			reason = "DeletionByPodGC"
		}
		path := kubeapi.Pods.Path(p.Namespace, p.Name)
		ok = l.disrupt(ctx, path, p, reason) == nil && l.client.Delete(ctx, path, o) == nil && ok
	}
	return ok
}

// disrupt announces a deletion in the pod's conditions, as both controllers do:
// address managers read it.
//
// Source: k8s.io/kubernetes/pkg/controller/tainteviction, addConditionAndDeletePod.
func (l lifecycle) disrupt(ctx context.Context, path string, p *corev1.Pod, reason string) error {
	conditions := append(slices.Clone(p.Status.Conditions), corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason,
	})
	return l.client.Patch(ctx, path+"/status", kubeapi.MergePatch, map[string]any{
		"metadata": map[string]any{"uid": p.UID}, "status": map[string]any{"conditions": conditions},
	})
}
