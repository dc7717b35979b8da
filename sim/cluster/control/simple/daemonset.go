package simple

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim/cluster/kubeapi"
)

// syncDaemonSet keeps one pod on every registered node that its selector
// matches, ready or not: DaemonSet pods tolerate a node that is not.
func (w *workload) syncDaemonSet(ctx context.Context) error {
	ds := w.object().(*appsv1.DaemonSet)
	on := map[string]*corev1.Pod{}
	for _, p := range w.mine() {
		on[p.Spec.NodeName] = p
	}
	for _, name := range w.c.Stored.Nodes() {
		n, _ := w.c.Stored.Node(name)
		p := on[name]
		switch {
		case n != nil && selects(ds.Spec.Template.Spec.NodeSelector, n.Labels) && (p == nil || kubeapi.Finished(p)):
			if p != nil {
				if err := w.deletePod(ctx, p); err != nil {
					return err
				}
			}
			t := ds.Spec.Template.DeepCopy()
			t.Spec.Tolerations = append(t.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists})
			if err := w.create(ctx, t, fmt.Sprintf("%s-%s", ds.Name, suffix(ds.UID, name, w.made)), name, nil); err != nil {
				return err
			}
		case n == nil && p != nil && p.DeletionTimestamp == nil:
			if err := w.deletePod(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func selects(selector, labels map[string]string) bool {
	for k, v := range selector {
		if labels[k] != v {
			return false
		}
	}
	return true
}
