package simple

import (
	"context"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper"

	"ipamsim/sim/cluster/kubeapi"
)

// evictions deletes the pods that do not tolerate their nodes' NoExecute taints, or not for so
// long. It deletes gracefully, so that on a silent node no kubelet confirms the deletion.
//
// Source: pkg/controller/tainteviction, processPodOnNode (v1.37.2).
func (l *lifecycle) evictions(ctx context.Context) bool {
	ok, since := true, map[types.UID]time.Duration{}
	for _, name := range l.c.Stored.Nodes() {
		n, _ := l.c.Stored.Node(name)
		taints := noExecute(n)
		if len(taints) == 0 {
			continue
		}
		for _, p := range l.c.Stored.PodsOn(name) {
			if p.DeletionTimestamp != nil {
				continue
			}
			d, forever := l.tolerated(p, taints)
			if forever {
				continue
			}
			at, known := l.since[p.UID]
			if !known {
				at = l.c.World.Now()
			}
			if since[p.UID] = at; l.due(at + d) {
				ok = l.remove(ctx, p, "DeletionByTaintManager", false) && ok
			}
		}
	}
	l.since = since
	return ok
}

// noExecute returns the NoExecute taints of a node, which may be nil.
func noExecute(n *corev1.Node) []corev1.Taint {
	if n == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectNoExecute })
}

// tolerated is how long a pod tolerates taints. The default tolerations that admission would add
// for silent nodes come after the pod's own.
//
// Source: plugin/pkg/admission/defaulttolerationseconds (v1.37.2).
func (l *lifecycle) tolerated(p *corev1.Pod, taints []corev1.Taint) (d time.Duration, forever bool) {
	seconds := int64(l.c.Timers.Toleration / time.Second)
	says := slices.Clone(p.Spec.Tolerations)
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		says = append(says, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds})
	}
	all, used := helper.GetMatchingTolerations(logr.Discard(), taints, says)
	forever = all
	for _, t := range used {
		if t.TolerationSeconds == nil {
			continue
		}
		s := max(0, time.Duration(*t.TolerationSeconds)*time.Second)
		if t.TolerationSeconds == &seconds {
			s = l.c.Timers.Toleration // which may be no whole number of them
		}
		if forever || s < d {
			d, forever = s, false
		}
	}
	return d, forever
}

// remove records the reason in the pod's conditions, as these controllers do and address
// managers read, and deletes the pod. With force the pod is first marked as failed, and the
// object is deleted immediately, without the kubelet.
//
// Source: pkg/controller/tainteviction, addConditionAndDeletePod; pkg/controller/podgc,
// markFailedAndDeletePodWithCondition (v1.37.2).
func (l *lifecycle) remove(ctx context.Context, p *corev1.Pod, reason string, force bool) bool {
	status := map[string]any{"conditions": append(slices.Clone(p.Status.Conditions), corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason,
	})}
	if force && !kubeapi.Finished(p) {
		status["phase"] = corev1.PodFailed
	}
	path := kubeapi.Pods.Path(p.Namespace, p.Name)
	err := l.client.Patch(ctx, path+"/status", kubeapi.MergePatch, map[string]any{"metadata": map[string]any{"uid": p.UID}, "status": status})
	if err != nil {
		return false
	}
	o := kubeapi.Deletion(force)
	o.Preconditions = &metav1.Preconditions{UID: &p.UID}
	return l.client.Delete(ctx, path, o) == nil
}
