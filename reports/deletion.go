package reports

import (
	"encoding/json"
	"slices"

	"ipamsim/sim/kube/exchange"
)

// condition is the part of a pod condition that identifies who deletes the pod.
type condition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// taintEviction is the condition that taint-eviction writes before it deletes a pod.
//
// Source: k8s.io/kubernetes/pkg/controller/tainteviction, addConditionAndDeletePod (v1.37.2).
var taintEviction = condition{Type: "DisruptionTarget", Status: "True", Reason: "DeletionByTaintManager"}

// unconfirmed reports whether a pod's deletion waits for no kubelet: its grace period is 0
// seconds, or the pod that the server answers with is one that taint-eviction deletes.
func (r *Report) unconfirmed(x exchange.Exchange) bool {
	var asked struct {
		GracePeriodSeconds *int64 `json:"gracePeriodSeconds"`
	}
	if json.Unmarshal(r.json(x.Request), &asked) == nil && asked.GracePeriodSeconds != nil && *asked.GracePeriodSeconds == 0 {
		return true
	}
	var pod struct {
		Status struct {
			Conditions []condition `json:"conditions"`
		} `json:"status"`
	}
	return json.Unmarshal(r.json(x.Response), &pod) == nil && slices.Contains(pod.Status.Conditions, taintEviction)
}
