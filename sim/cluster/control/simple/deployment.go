package simple

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"ipamsim/sim/cluster/kubeapi"
)

// syncDeployment keeps the wanted number of pods, of the template that it has now. One that
// is being deleted no longer counts, so its successor starts while it still terminates: the
// difference to a StatefulSet that matters to an address manager.
//
// Source: k8s.io/kubernetes/pkg/controller/replicaset, manageReplicas; pkg/controller/
// deployment, rolloutRolling and rolloutRecreate (v1.34.1).
func (w *workload) syncDeployment(ctx context.Context) error {
	d := w.object().(*appsv1.Deployment)
	replicas := number(d.Spec.Replicas)
	revision := w.revision(&d.Spec.Template)
	all := w.mine()
	have := active(all)
	slices.SortStableFunc(have, kept(have))
	old := func(p *corev1.Pod) bool { return w.revisionOf(p) != revision }
	before, now := partition(have, old)
	r := rollout{replicas: replicas, before: before, now: now}
	r.surge, r.unavailable = bounds(d, replicas)
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		r.surge, r.unavailable = 0, replicas
		if slices.ContainsFunc(all, func(p *corev1.Pod) bool { return old(p) && !kubeapi.Finished(p) }) {
			r.replicas, r.now = 0, nil // until they are gone
		}
	}
	for range r.create() {
		mark := w.mark(revision)
		name := fmt.Sprintf("%s-%s-%s", d.Name, mark[w.marked], suffix(d.UID, w.made))
		if err := w.create(ctx, &d.Spec.Template, name, "", mark); err != nil {
			return err
		}
	}
	for _, p := range r.surplus() {
		if err := w.deletePod(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// number of replicas; 1 where nothing is said.
func number(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

// bounds are how many pods more than wanted, and how many fewer that are ready, a rollout
// may come to.
//
// Source: k8s.io/kubernetes/pkg/controller/deployment/util, ResolveFenceposts (v1.34.1).
func bounds(d *appsv1.Deployment, replicas int) (surge, unavailable int) {
	quarter := intstr.FromString("25%")
	more, fewer := &quarter, &quarter
	if r := d.Spec.Strategy.RollingUpdate; r != nil {
		more, fewer = cmp.Or(r.MaxSurge, more), cmp.Or(r.MaxUnavailable, fewer)
	}
	surge, _ = intstr.GetScaledValueFromIntOrPercent(more, replicas, true) // validated
	unavailable, _ = intstr.GetScaledValueFromIntOrPercent(fewer, replicas, false)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

// rollout is how far one template has taken the place of those before: their pods that
// count, first those that are rather kept.
type rollout struct {
	replicas, surge, unavailable int
	before, now                  []*corev1.Pod
}

// create is how many pods are to be made now.
//
// Source: pkg/controller/deployment/util, NewRSNewReplicas (v1.34.1).
func (r rollout) create() int {
	return max(0, min(r.replicas-len(r.now), r.replicas+r.surge-len(r.now)-len(r.before)))
}

// surplus are the pods that are to be deleted now.
//
// Source: pkg/controller/deployment, reconcileOldReplicaSets, cleanupUnhealthyReplicas and
// scaleDownOldReplicaSetsForRollingUpdate (v1.34.1).
func (r rollout) surplus() []*corev1.Pod {
	out := slices.Clone(r.now[min(len(r.now), r.replicas):])
	slices.Reverse(out)
	if r.create() > 0 {
		return out
	}
	ill, well := partition(r.before, func(p *corev1.Pod) bool { return !podReady(p) })
	_, ready := partition(r.now, func(p *corev1.Pod) bool { return !podReady(p) })
	least := r.replicas - r.unavailable
	n := len(r.now) + len(r.before) - least - (len(r.now) - len(ready))
	out = append(out, last(ill, n)...)
	if n > 0 {
		out = append(out, last(well, len(well)+len(ready)-least)...)
	}
	return out
}

// last are the last n of all, or as many as there are, the last one first.
func last(all []*corev1.Pod, n int) []*corev1.Pod {
	out := slices.Clone(all[len(all)-max(0, min(n, len(all))):])
	slices.Reverse(out)
	return out
}

// partition are those of which is holds, and the others.
func partition(all []*corev1.Pod, is func(*corev1.Pod) bool) (yes, no []*corev1.Pod) {
	for _, p := range all {
		if is(p) {
			yes = append(yes, p)
		} else {
			no = append(no, p)
		}
	}
	return yes, no
}

// kept orders pods by how much a ReplicaSet would rather keep them: what is bound, runs, is
// ready, has fewer of its kind beside it, then the older ones.
//
// Source: k8s.io/kubernetes/pkg/controller, ActivePodsWithRanks (v1.34.1).
func kept(all []*corev1.Pod) func(a, b *corev1.Pod) int {
	on := map[string]int{}
	for _, p := range all {
		on[p.Spec.NodeName]++
	}
	first := func(is func(*corev1.Pod) bool, a, b *corev1.Pod) int {
		switch x, y := is(a), is(b); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	}
	return func(a, b *corev1.Pod) int {
		return cmp.Or(
			first(func(p *corev1.Pod) bool { return p.Spec.NodeName != "" }, a, b),
			first(func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }, a, b),
			first(podReady, a, b),
			on[a.Spec.NodeName]-on[b.Spec.NodeName],
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		)
	}
}
