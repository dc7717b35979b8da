package whereabouts

import (
	"encoding/json"

	nadv1 "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/apis/k8s.cni.cncf.io/v1"

	"ipamsim/model/act"
	"ipamsim/sim/kube"
)

// actOfPod says of a pod what the reconciler judges it by: its phase, and the
// addresses in its network-status.
func actOfPod(x kube.Exchange, a *act.Act) bool {
	a.Thing.Kind = act.Pod
	switch a.Verb {
	case act.Read:
		o := answer(x)
		if o != nil {
			a.Thing = o.pod()
		}
		return o != nil || a.Outcome == act.Absent
	case act.List:
		return listed(x, a, act.Pod, (*stored).pod)
	case act.Hear:
		a.Gone = read(x.Response).Type == "DELETED"
		return a.Gone
	}
	return false
}

func (o *stored) pod() act.Thing {
	t := act.Thing{Kind: act.Pod, Name: o.Metadata.Namespace + "/" + o.Metadata.Name, State: o.Status.Phase, Deleted: o.Metadata.Deletion != nil}
	if t.State == "" {
		t.State = "Pending"
	}
	if addrs, has := o.addresses(); has {
		t.Parts = []act.Thing{{Kind: act.NetworkStatus, Parts: addrs}}
	}
	return t
}

// addresses are the addresses of all networks except the pod network; has is false if Multus has
// not written any yet.
func (o *stored) addresses() (addrs []act.Thing, has bool) {
	text := o.Metadata.Annotations[nadv1.NetworkStatusAnnot]
	var networks []nadv1.NetworkStatus
	_ = json.Unmarshal([]byte(text), &networks) // upstream takes it for none, too
	for _, n := range networks {
		for _, ip := range n.IPs {
			if !n.Default {
				addrs = append(addrs, act.Thing{Kind: act.Address, Name: ip})
			}
		}
	}
	return addrs, text != ""
}
