package simple

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/controller/daemon/util"

	"ipamsim/sim/cluster/kubeapi"
)

// syncDaemonSet keeps one pod on every registered node that its selector and affinity match and
// whose taints it tolerates; all DaemonSet pods tolerate that a node is silent, cordoned or under
// pressure. A pod that may no longer run on its node is deleted. Pods of an earlier template are
// deleted while the number of pods that are not ready is within the bound.
//
// Source: k8s.io/kubernetes/pkg/controller/daemon, podsShouldBeOnNode,
// NodeShouldRunDaemonPod and rollingUpdate (v1.37.2).
func (w *workload) syncDaemonSet(ctx context.Context) error {
	ds := w.object().(*appsv1.DaemonSet)
	revision := w.revision(&ds.Spec.Template)
	t := ds.Spec.Template.DeepCopy()
	util.AddOrUpdateDaemonPodTolerations(&t.Spec)
	would := &corev1.Pod{ObjectMeta: t.ObjectMeta, Spec: t.Spec}
	on := map[string]*corev1.Pod{}
	for _, p := range w.mine() {
		on[p.Spec.NodeName] = p
	}
	missing := 0
	var old []*corev1.Pod
	for _, name := range w.c.Stored.Nodes() {
		n, _ := w.c.Stored.Node(name)
		if n == nil || !matches(n, would) {
			if p := on[name]; n != nil && p != nil && p.DeletionTimestamp == nil {
				if err := w.deletePod(ctx, p); err != nil {
					return err
				}
			}
			continue
		}
		p := on[name]
		runs := !refuses(n.Spec.Taints, would, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)
		switch leaves := refuses(n.Spec.Taints, would, corev1.TaintEffectNoExecute); {
		case p == nil && runs:
			missing++
			if err := w.create(ctx, t, fmt.Sprintf("%s-%s", ds.Name, suffix(ds.UID, name, w.made)), name, w.mark(revision)); err != nil {
				return err
			}
		case p == nil:
		case p.DeletionTimestamp != nil:
			missing++
		case leaves, kubeapi.Finished(p):
			missing++
			if err := w.deletePod(ctx, p); err != nil {
				return err
			}
		case w.revisionOf(p) != revision:
			old = append(old, p)
		case !podReady(p):
			missing++
		}
	}
	return w.replace(ctx, ds, old, missing)
}

// replace deletes pods of an earlier template: those that are not ready, and as many others as the
// bound of missing pods allows.
func (w *workload) replace(ctx context.Context, ds *appsv1.DaemonSet, old []*corev1.Pod, missing int) error {
	if ds.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType || len(old) == 0 {
		return nil
	}
	may := 1
	if r := ds.Spec.UpdateStrategy.RollingUpdate; r != nil && r.MaxUnavailable != nil {
		may, _ = intstr.GetScaledValueFromIntOrPercent(r.MaxUnavailable, len(w.mine()), true) // validated
	}
	ill, well := partition(old, func(p *corev1.Pod) bool { return !podReady(p) })
	n := max(0, min(len(well), may-missing-len(ill)))
	for _, p := range append(ill, well[:n]...) {
		if err := w.deletePod(ctx, p); err != nil {
			return err
		}
	}
	return nil
}
