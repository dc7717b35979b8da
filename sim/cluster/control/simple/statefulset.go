package simple

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim/cluster/kubeapi"
)

// syncStatefulSet keeps web-0 … web-N in order. With OrderedReady each pod waits for the one before
// it to be Running and Ready. A terminating pod must be gone before the next of its name is
// created. The highest pod is removed first. When all exist, those of an earlier template are
// replaced one by one.
//
// Source: k8s.io/kubernetes/pkg/controller/statefulset, updateStatefulSet (v1.37.2).
func (w *workload) syncStatefulSet(ctx context.Context) error {
	set := w.object().(*appsv1.StatefulSet)
	replicas := number(set.Spec.Replicas)
	revision := w.revision(&set.Spec.Template)
	parallel := set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
	have := map[string]*corev1.Pod{}
	for _, p := range w.mine() {
		have[p.Name] = p
	}
	at := func(i int) string { return fmt.Sprintf("%s-%d", set.Name, i) }
	for i := range replicas {
		p := have[at(i)]
		var err error
		switch {
		case p == nil:
			labels := map[string]string{appsv1.StatefulSetPodNameLabel: at(i)}
			for k, v := range w.mark(revision) {
				labels[k] = v
			}
			err = w.create(ctx, &set.Spec.Template, at(i), "", labels)
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
		p := have[at(i)]
		if p == nil {
			continue
		}
		if p.DeletionTimestamp == nil {
			// One that is not ready goes once all below it are; the lowest such one goes first.
			if !parallel && !podReady(p) && unready(have, at, replicas, i) {
				return nil
			}
			if err := w.deletePod(ctx, p); err != nil {
				return err
			}
		}
		if !parallel {
			return nil
		}
	}
	if set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return nil
	}
	for i := replicas - 1; i >= 0; i-- {
		switch p := have[at(i)]; {
		case p == nil:
			return nil
		case p.DeletionTimestamp == nil && w.revisionOf(p) != revision:
			return w.deletePod(ctx, p)
		case p.DeletionTimestamp != nil || !podReady(p):
			return nil
		}
	}
	return nil
}

// unready reports whether one of the pods from and up to, but without, these ordinals is
// not ready or going.
func unready(have map[string]*corev1.Pod, at func(int) string, from, to int) bool {
	for i := from; i < to; i++ {
		if p := have[at(i)]; p != nil && (!podReady(p) || p.DeletionTimestamp != nil) {
			return true
		}
	}
	return false
}
