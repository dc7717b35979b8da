package cluster

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
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
	for i := len(have) - 1; i >= replicas; i-- {
		if err := w.deletePod(ctx, have[i]); err != nil {
			return err
		}
	}
	return nil
}
