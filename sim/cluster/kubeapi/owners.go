package kubeapi

import (
	"bytes"
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/model"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// workloadKinds are the kinds that own pods, by their plural names.
var workloadKinds = map[string]string{
	"statefulsets": "StatefulSet", "deployments": "Deployment", "daemonsets": "DaemonSet", "jobs": "Job", "replicasets": "ReplicaSet",
}

// Owners are the UIDs of the stored workloads, by KIND/NAME; nil: not read yet.
type Owners map[model.PodRef]types.UID

// Resolve sets the uids in the owner references of a pod's manifest to those of the workloads
// before it in the file, which a manifest cannot know. A reference to an owner that is not stored
// is unchanged.
func (u *Owners) Resolve(api *kube.Server, o ipam.Object) (ipam.Object, error) {
	if o.Kind != "Pod" || !bytes.Contains(o.Body, []byte(`"ownerReferences"`)) {
		return o, nil
	}
	var body, head map[string]json.RawMessage
	var refs []metav1.OwnerReference
	if err := json.Unmarshal(o.Body, &body); err != nil {
		return o, err
	}
	if err := json.Unmarshal(body["metadata"], &head); err != nil {
		return o, err
	}
	if head["ownerReferences"] == nil { // the words stand somewhere else
		return o, nil
	}
	if err := json.Unmarshal(head["ownerReferences"], &refs); err != nil {
		return o, err
	}
	if err := u.read(api); err != nil {
		return o, err
	}
	for i, r := range refs {
		if uid, ok := (*u)[model.PodRef{Namespace: o.Namespace, Name: r.Kind + "/" + r.Name}]; ok {
			refs[i].UID = uid
		}
	}
	var err error
	if head["ownerReferences"], err = json.Marshal(refs); err != nil {
		return o, err
	}
	if body["metadata"], err = json.Marshal(head); err != nil {
		return o, err
	}
	o.Body, err = json.Marshal(body)
	return o, err
}

// read reads the store once. Following the changes instead would not work: the controllers that
// receive their workload then would look for its pods before these are stored.
func (u *Owners) read(api *kube.Server) error {
	if *u != nil {
		return nil
	}
	*u = Owners{}
	for resource, kind := range workloadKinds {
		all, err := api.List(context.Background(), resource)
		if err != nil {
			return err
		}
		for _, o := range all {
			m, err := meta.Accessor(o)
			if err != nil {
				return err
			}
			(*u)[model.PodRef{Namespace: m.GetNamespace(), Name: kind + "/" + m.GetName()}] = m.GetUID()
		}
	}
	return nil
}
