package kept

import (
	"encoding/json"
	"slices"
	"strings"
)

// Owner is the controller that recreates a pod after it is deleted; the zero value: none.
type Owner struct {
	// Kind is Deployment for what a Deployment's ReplicaSet made, else as the pod says:
	// StatefulSet, DaemonSet, Job, Node (a static pod), VirtualMachineInstance, …
	Kind, Name string
}

// reference is an entry of metadata.ownerReferences.
type reference struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Controller bool   `json:"controller"`
}

// HashLabel is on every pod of a Deployment's.
//
// Source: k8s.io/api/apps/v1, DefaultDeploymentUniqueLabelKey.
const HashLabel = "pod-template-hash"

// ownerOf is the owner of a pod. A Deployment calls its ReplicaSets by its own name and
// the hash that the pods have as a label.
//
// Source: k8s.io/kubernetes/pkg/controller/deployment/sync.go, getNewReplicaSet.
func (c *Store) ownerOf(h *Head) Owner {
	for _, r := range h.Metadata.OwnerReferences {
		if !r.Controller {
			continue
		}
		o := Owner{c.Word(r.Kind), c.Word(r.Name)}
		if hash := h.Metadata.Labels[HashLabel]; o.Kind == "ReplicaSet" && hash != "" {
			if name, ok := strings.CutSuffix(o.Name, "-"+hash); ok {
				return Owner{"Deployment", c.Word(name)}
			}
		}
		return o
	}
	return Owner{}
}

// Controlled reports whether another object controls this one.
func (h *Head) Controlled() bool {
	return slices.ContainsFunc(h.Metadata.OwnerReferences, func(r reference) bool { return r.Controller })
}

// Workload has the fields of a DaemonSet, Deployment, StatefulSet or Job that its pods do not
// show.
type Workload struct {
	Replicas int  // wanted; 1 for a kind that has none
	Parallel bool // a StatefulSet's pods start in parallel
	Pods     int  // that it has, by its status
}

// WorkloadOf reads a DaemonSet, Deployment, StatefulSet or Job, and the images of its pods.
func WorkloadOf(raw json.RawMessage) (w Workload, images []string, err error) {
	var o struct {
		Spec struct {
			Replicas            *int   `json:"replicas"`
			PodManagementPolicy string `json:"podManagementPolicy"`
			Template            struct {
				Spec struct {
					Containers []container `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
		Status struct {
			Replicas               int `json:"replicas"`
			CurrentNumberScheduled int `json:"currentNumberScheduled"` // of a DaemonSet
			Active                 int `json:"active"`                 // of a Job
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return w, nil, err
	}
	w = Workload{Replicas: 1, Parallel: o.Spec.PodManagementPolicy == "Parallel", Pods: o.Status.Replicas + o.Status.CurrentNumberScheduled + o.Status.Active}
	if o.Spec.Replicas != nil {
		w.Replicas = *o.Spec.Replicas
	}
	return w, imagesOf(o.Spec.Template.Spec.Containers), nil
}
