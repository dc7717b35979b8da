package whereabouts

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	nadv1 "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/apis/k8s.cni.cncf.io/v1"
	"github.com/k8snetworkplumbingwg/whereabouts/pkg/api/whereabouts.cni.cncf.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	reference "ipamsim/model/reference/whereabouts"
)

// How long one request may take.
//
// Source: pkg/storage/kubernetes/client.go, listRequestTimeout; pkg/storage/storage.go,
// RequestTimeout (v0.9.4).
const (
	listTimeout    = 30 * time.Second
	requestTimeout = 10 * time.Second
)

// judge finds the orphans of one pool.
//
// Source: findOrphanedIPsPerPool.
func (p *referencePass) judge(ctx context.Context, a *allocations) {
	for _, offset := range a.offsets {
		if p.orphaned(ctx, reference.Claimed{Pod: a.holder(offset), Address: a.address(offset)}) {
			a.orphans = append(a.orphans, offset)
		}
	}
}

// staleReservations lists the reservations of overlapping ranges, and judges them
// by the pods that were listed before.
//
// Source: findClusterWideIPReservations.
func (p *referencePass) staleReservations(ctx context.Context) ([]v1alpha1.OverlappingRangeIPReservation, error) {
	listing, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	list, err := p.records.OverlappingRangeIPReservations(metav1.NamespaceAll).List(listing, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var stale []v1alpha1.OverlappingRangeIPReservation
	for _, r := range list.Items {
		c := reference.Claimed{Pod: podRef(r.Spec.PodRef), Address: reference.Denormalized(r.Name), Reservation: true}
		if p.orphaned(ctx, c) {
			stale = append(stale, r)
		}
	}
	return stale, nil
}

// drop deletes reservations by name, without a condition.
//
// Source: ReconcileOverlappingIPAddresses.
func (p *referencePass) drop(ctx context.Context, stale []v1alpha1.OverlappingRangeIPReservation) error {
	var failed []error
	for _, r := range stale {
		deleting, cancel := context.WithTimeout(ctx, requestTimeout)
		failed = append(failed, p.records.OverlappingRangeIPReservations(r.Namespace).Delete(deleting, r.Name, metav1.DeleteOptions{}))
		cancel()
	}
	return errors.Join(failed...)
}

// orphaned applies the rule, and reads the pod again as long as the rule requires it before the
// claim is released.
//
// Source: isOrphanedIP, whose result means the contrary of its name.
func (p *referencePass) orphaned(ctx context.Context, c reference.Claimed) bool {
	pod := p.pods[c.Pod]
	for range reference.RefreshMax {
		if !p.rule.Refreshes(c, pod) {
			break
		}
		if pod = p.refetch(ctx, c.Pod); p.rule.Refreshes(c, pod) {
			time.Sleep(reference.RefreshPause)
		}
	}
	return p.rule.Orphaned(c, pod)
}

// refetch returns nil for a pod that could not be read for any reason.
//
// Source: refreshPod.
func (p *referencePass) refetch(ctx context.Context, ref model.PodRef) *reference.Pod {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	pod, err := p.core.Pods(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	s := seen(pod)
	return &s
}

// seen is what the judgement needs of a pod. A network-status that cannot be read
// is empty.
//
// Source: wrapPod, getFlatIPSet, isPodMarkedForDeletion.
func seen(pod *corev1.Pod) reference.Pod {
	out := reference.Pod{
		Ref:     model.PodRef{Namespace: pod.Namespace, Name: pod.Name},
		Pending: pod.Status.Phase == corev1.PodPending,
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == "DeletionByTaintManager" {
			out.Marked = true
		}
	}
	var networks []nadv1.NetworkStatus
	if json.Unmarshal([]byte(pod.Annotations[nadv1.NetworkStatusAnnot]), &networks) != nil {
		return out
	}
	for _, n := range networks {
		if !n.Default {
			out.IPs = append(out.IPs, n.IPs...)
		}
	}
	return out
}
