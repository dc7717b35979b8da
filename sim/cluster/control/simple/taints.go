package simple

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/node/topology"

	"ipamsim/sim/cluster/kubeapi"
)

// taints keeps the taints of silent nodes. No pod is placed there, from the first moment. The pods
// of the node are evicted, too, unless evictions are stopped in its zone.
//
// Source: pkg/controller/nodelifecycle, doNoScheduleTaintingPass, doNoExecuteTaintingPass
// (v1.37.2).
func (l *lifecycle) taints(ctx context.Context) bool {
	zones := l.zones()
	ok := true
	for _, name := range l.c.Stored.Nodes() {
		n, _ := l.c.Stored.Node(name)
		if n == nil {
			continue
		}
		zone, leaves := topology.GetZoneKey(n), slices.Contains(n.Spec.Taints, unreachable(corev1.TaintEffectNoExecute))
		want := slices.DeleteFunc(append([]corev1.Taint{}, n.Spec.Taints...), func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnreachable })
		if !ready(n) {
			want = append(want, unreachable(corev1.TaintEffectNoSchedule))
			if every, any := zones[zone].every(); l.c.Alone || any && (leaves || l.due(l.tainted[zone]+every)) {
				want = append(want, unreachable(corev1.TaintEffectNoExecute))
			}
		}
		if slices.Equal(want, n.Spec.Taints) && !l.back[name] {
			continue
		}
		patch := map[string]any{"spec": map[string]any{"taints": want}}
		done := l.client.Patch(ctx, kubeapi.Nodes.Path("", name), kubeapi.MergePatch, patch) == nil
		if done && !leaves && slices.Contains(want, unreachable(corev1.TaintEffectNoExecute)) {
			l.tainted[zone] = l.c.World.Now()
		}
		if ok = ok && done; done {
			delete(l.back, name)
		}
	}
	return ok
}

func unreachable(e corev1.TaintEffect) corev1.Taint {
	return corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: e}
}

// zone is how many nodes a zone has, and how many of them are silent.
type zone struct {
	nodes, silent int
	stopped       bool // every node of every zone is silent: the fault is taken to be elsewhere
}

func (l *lifecycle) zones() map[string]zone {
	zones := map[string]zone{}
	stopped := true
	for _, name := range l.c.Stored.Nodes() {
		n, _ := l.c.Stored.Node(name)
		if n == nil {
			continue
		}
		z := zones[topology.GetZoneKey(n)]
		if z.nodes++; ready(n) {
			stopped = false
		} else {
			z.silent++
		}
		zones[topology.GetZoneKey(n)] = z
	}
	for k, z := range zones {
		z.stopped = stopped
		zones[k] = z
	}
	return zones
}

// every is the least time between the evictions of two nodes of the zone, and whether there are
// evictions. The numbers are kube-controller-manager's defaults: --node-eviction-rate,
// --secondary-node-eviction-rate, --large-cluster-size-threshold and --unhealthy-zone-threshold.
//
// Source: pkg/controller/nodelifecycle, ComputeZoneState, setLimiterInZone (v1.37.2).
func (z zone) every() (d time.Duration, any bool) {
	partial := z.silent > 2 && z.silent < z.nodes && float32(z.silent)/float32(z.nodes) >= 0.55
	switch {
	case z.stopped || partial && z.nodes <= 50:
		return 0, false
	case partial:
		return 100 * time.Second, true
	}
	return 10 * time.Second, true
}
