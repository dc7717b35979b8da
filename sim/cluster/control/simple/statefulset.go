package simple

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim/cluster/kubeapi"
)

// syncStatefulSet keeps web-0 … web-N in order: with OrderedReady each waits for
// the one before it to be Running and Ready; a pod that is going must be gone
// before the next of its name is made; the highest goes first.
//
// Source: k8s.io/kubernetes/pkg/controller/statefulset, updateStatefulSet.
func (w *workload) syncStatefulSet(ctx context.Context) error {
	set := w.object().(*appsv1.StatefulSet)
	replicas := 1
	if set.Spec.Replicas != nil {
		replicas = int(*set.Spec.Replicas)
	}
	parallel := set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
	have := map[string]*corev1.Pod{}
	for _, p := range w.mine() {
		have[p.Name] = p
	}
	for i := range replicas {
		name := fmt.Sprintf("%s-%d", set.Name, i)
		p := have[name]
		delete(have, name)
		var err error
		switch {
		case p == nil:
			err = w.create(ctx, &set.Spec.Template, name, "", map[string]string{appsv1.StatefulSetPodNameLabel: name})
		case kubeapi.Finished(p) && p.DeletionTimestamp == nil:
			err = w.deletePod(ctx, p)
		case podReady(p) && p.DeletionTimestamp == nil:
			continue
		}
		if err != nil || !parallel {
			return err
		}
	}
	for i := len(have) + replicas; i >= replicas; i-- {
		p := have[fmt.Sprintf("%s-%d", set.Name, i)]
		if p == nil {
			continue
		}
		if p.DeletionTimestamp == nil {
			if err := w.deletePod(ctx, p); err != nil {
				return err
			}
		}
		if !parallel {
			return nil
		}
	}
	return nil
}
