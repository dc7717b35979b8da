package simple

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// syncDeployment keeps the wanted number of pods. One that is being deleted no
// longer counts, so its successor starts while it still terminates: the
// difference to a StatefulSet that matters to an address manager.
//
// Source: k8s.io/kubernetes/pkg/controller/replicaset, manageReplicas.
func (w *workload) syncDeployment(ctx context.Context) error {
	d := w.object().(*appsv1.Deployment)
	replicas := 1
	if d.Spec.Replicas != nil {
		replicas = int(*d.Spec.Replicas)
	}
	have := active(w.mine())
	hash := suffix(d.UID, "template") + suffix(d.Name)
	for i := len(have); i < replicas; i++ {
		name := fmt.Sprintf("%s-%s-%s", d.Name, hash, suffix(d.UID, w.made))
		if err := w.create(ctx, &d.Spec.Template, name, "", map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: hash}); err != nil {
			return err
		}
	}
	slices.SortStableFunc(have, keptFirst)
	for i := len(have) - 1; i >= replicas; i-- {
		if err := w.deletePod(ctx, have[i]); err != nil {
			return err
		}
	}
	return nil
}

// keptFirst orders pods by how much a ReplicaSet would rather keep them: what runs
// before what does not, then the older ones.
//
// Source: k8s.io/kubernetes/pkg/controller, ActivePodsWithRanks.
func keptFirst(a, b *corev1.Pod) int {
	running := func(p *corev1.Pod) int {
		if p.Status.Phase == corev1.PodRunning {
			return 0
		}
		return 1
	}
	return cmp.Or(running(a)-running(b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
}
