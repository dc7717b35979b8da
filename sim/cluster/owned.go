package cluster

import (
	"bytes"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/model"
)

// resolve gives the owner references of a pod's manifest the uids of the workloads that
// are stored: a file cannot know them. Whose owner is not stored keeps what it says.
func (c *Cluster) resolve(o Object) (Object, error) {
	if o.Kind != "Pod" || !bytes.Contains(o.Body, []byte(`"ownerReferences"`)) {
		return o, nil
	}
	c.store.Pump() // what was stored so far is heard of
	var body map[string]json.RawMessage
	var meta map[string]json.RawMessage
	var refs []metav1.OwnerReference
	if err := json.Unmarshal(o.Body, &body); err != nil {
		return o, err
	}
	if err := json.Unmarshal(body["metadata"], &meta); err != nil {
		return o, err
	}
	if meta["ownerReferences"] == nil { // the words stand somewhere else
		return o, nil
	}
	if err := json.Unmarshal(meta["ownerReferences"], &refs); err != nil {
		return o, err
	}
	c.mu.Lock()
	for i, r := range refs {
		if uid := c.owners[model.PodRef{Namespace: o.Namespace, Name: r.Kind + "/" + r.Name}]; uid != "" {
			refs[i].UID = types.UID(uid)
		}
	}
	c.mu.Unlock()
	var err error
	if meta["ownerReferences"], err = json.Marshal(refs); err != nil {
		return o, err
	}
	if body["metadata"], err = json.Marshal(meta); err != nil {
		return o, err
	}
	o.Body, err = json.Marshal(body)
	return o, err
}
