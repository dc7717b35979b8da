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
// Source: k8s.io/kubernetes/pkg/controller/replicaset, manageReplicas (v1.37.2).
func (w *workload) syncDeployment(ctx context.Context) error {
	d := w.object().(*appsv1.Deployment)
	now := w.revision(&d.Spec.Template)
	all := w.mine()
	have := make([][]*corev1.Pod, len(w.templates)) // by revision
	for _, p := range active(all) {
		have[w.revisionOf(p)] = append(have[w.revisionOf(p)], p)
	}
	w.resize(d, now, all, have)
	for i, pods := range have {
		mark := w.mark(i)
		for range w.sizes[i] - len(pods) {
			name := fmt.Sprintf("%s-%s-%s", d.Name, mark[w.marked], suffix(d.UID, w.made))
			if err := w.create(ctx, w.templates[i], name, "", mark); err != nil {
				return err
			}
		}
		slices.SortStableFunc(pods, kept(pods))
		for j := len(pods) - 1; j >= w.sizes[i]; j-- {
			if err := w.deletePod(ctx, pods[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// resize computes the number of pods of each revision: the replicas of its ReplicaSet.
//
// Source: pkg/controller/deployment, rolloutRolling, reconcileOldReplicaSets and
// rolloutRecreate; pkg/controller/deployment/util, NewRSNewReplicas (v1.37.2).
func (w *workload) resize(d *appsv1.Deployment, now int, all []*corev1.Pod, have [][]*corev1.Pod) {
	for len(w.sizes) < len(w.templates) {
		w.sizes = append(w.sizes, 0)
	}
	replicas := number(d.Spec.Replicas)
	total, ready, readyNow := 0, 0, 0
	for i, pods := range have {
		total += w.sizes[i]
		ready += readyOf(pods)
		if i == now {
			readyNow = readyOf(pods)
		}
	}
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		left := slices.ContainsFunc(all, func(p *corev1.Pod) bool { return w.revisionOf(p) != now && !kubeapi.Finished(p) })
		clear(w.sizes)
		if !left {
			w.sizes[now] = replicas
		}
		return
	}
	surge, unavailable := bounds(d, replicas)
	switch up := min(replicas+surge-total, replicas-w.sizes[now]); {
	case total == w.sizes[now]:
		w.sizes[now] = replicas
		return
	case up > 0:
		w.sizes[now] += up
		return
	}
	w.sizes[now] = min(w.sizes[now], replicas)
	least := replicas - unavailable
	n := total - least - (w.sizes[now] - readyNow)
	if n <= 0 {
		return
	}
	for i, pods := range have { // pods that are not ready first
		if i != now {
			n -= w.shrink(i, min(n, w.sizes[i]-readyOf(pods)))
		}
	}
	n = ready - least
	for i := range have {
		if i != now {
			n -= w.shrink(i, n)
		}
	}
}

// shrink reduces the pods of a revision by n, or to 0.
func (w *workload) shrink(revision, n int) int {
	n = max(0, min(n, w.sizes[revision]))
	w.sizes[revision] -= n
	return n
}

func readyOf(pods []*corev1.Pod) (n int) {
	for _, p := range pods {
		if podReady(p) {
			n++
		}
	}
	return n
}

// number is a number of replicas; 1 if unset.
func number(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

// bounds are the number of pods by which a rollout may exceed the wanted number, and by which the
// ready pods may fall short of it.
//
// Source: k8s.io/kubernetes/pkg/controller/deployment/util, ResolveFenceposts (v1.37.2).
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

// partition splits pods into those for which is returns true, and the others.
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

// kept orders pods by the preference of a ReplicaSet to keep them: bound, running and ready pods
// first, then those with fewer pods of their kind on the node, then older ones.
//
// Source: k8s.io/kubernetes/pkg/controller, ActivePodsWithRanks (v1.37.2).
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
