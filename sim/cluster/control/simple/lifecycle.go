package simple

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/sim"
	"ipamsim/sim/cluster/kubeapi"
)

// startNodeLifecycle stands for three controllers of kube-controller-manager that
// decide what becomes of pods on a node that is silent or deleted: node-lifecycle
// (taints.go), taint-eviction (eviction.go) and pod garbage collection (podgc.go).
//
// Heartbeats are not messages here: the controller notices what is so.
func (c *controllers) startNodeLifecycle() {
	c.World.Spawn(sim.Process{ID: "node-lifecycle", Run: func(ctx context.Context, g *sim.Gate) error {
		l := lifecycle{c: c, client: kubeapi.New(c.API.Door(g)), tainted: map[string]time.Duration{}}
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
	next    time.Duration               // until it has to look again
	tainted map[string]time.Duration    // when the last node of each zone was tainted NoExecute
	since   map[types.UID]time.Duration // how long there are taints that concern a pod
}

// sync does what is due now and returns when to look again.
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

// silent reports whether the API server does not hear of a node's kubelet.
func (l *lifecycle) silent(name string) bool { return !l.c.Machine(name).Healthy() }

// conditions says of each node whether its kubelet can be heard: at once when it is back,
// and after NodeMonitorGrace when it is silent.
func (l *lifecycle) conditions(ctx context.Context) bool {
	ok := true
	for _, name := range l.c.Stored.Nodes() {
		obj, _ := l.c.Stored.Node(name)
		silent := l.silent(name)
		if obj != nil && silent == ready(obj) && (!silent || l.due(l.c.Machine(name).Since+l.c.Timers.NodeMonitorGrace)) {
			ok = l.setReady(ctx, name, !silent) && ok
		}
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
