package reports

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/kube"
)

// unconfirmed reports whether a pod's deletion waits for no kubelet: its grace period is 0
// seconds, or the pod that the server answers with is one that taint-eviction deletes.
//
// Source: k8s.io/kubernetes/pkg/controller/tainteviction, addConditionAndDeletePod (v1.34).
func unconfirmed(x kube.Exchange) bool {
	var asked metav1.DeleteOptions
	if json.Unmarshal(kube.JSON(x.Request), &asked) == nil && asked.GracePeriodSeconds != nil && *asked.GracePeriodSeconds == 0 {
		return true
	}
	var pod struct {
		Status struct {
			Conditions []corev1.PodCondition `json:"conditions"`
		} `json:"status"`
	}
	return json.Unmarshal(kube.JSON(x.Response), &pod) == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == "DeletionByTaintManager"
	})
}
