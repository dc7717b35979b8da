package reports

import (
	"encoding/json"
	"net/http"

	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/kube/exchange"
)

// Did is what a step did: in the address manager's terms where it has any, in
// Kubernetes' otherwise; the zero Act if it was no message.
func (r *Report) Did(s *sim.Step) act.Act {
	var a act.Act
	if s.Detail != nil && r.Act != nil {
		a = r.Act(s.Detail)
	}
	if x, ok := s.Detail.(exchange.Exchange); ok && a.Verb == "" {
		return r.kubernetes(x)
	}
	if x, ok := s.Detail.(interface{ Act() act.Act }); ok && a.Verb == "" {
		return x.Act() // a file, a daemon's or a cloud's answer
	}
	return a
}

// object is the part of a Kubernetes object that a reader of a timeline needs.
type object struct {
	Metadata struct {
		Namespace         string            `json:"namespace"`
		Name              string            `json:"name"`
		ResourceVersion   string            `json:"resourceVersion"`
		DeletionTimestamp *string           `json:"deletionTimestamp"`
		Annotations       map[string]string `json:"annotations"`
	} `json:"metadata"`
	Status struct {
		Phase string `json:"phase"`
		PodIP string `json:"podIP"`
	} `json:"status"`
	Items []object `json:"items"`
}

// statusAnnotation is where Multus writes the addresses that a pod got.
const statusAnnotation = "k8s.v1.cni.cncf.io/network-status"

// networksAnnotation asks Multus for them.
const networksAnnotation = "k8s.v1.cni.cncf.io/networks"

// addresses of network-status; ok is false if the pod has none yet.
func (o *object) addresses() (addrs []act.Thing, ok bool) {
	text, ok := o.Metadata.Annotations[statusAnnotation]
	var status []struct {
		IPs []string `json:"ips"`
	}
	_ = json.Unmarshal([]byte(text), &status) // invalid annotation: no addresses
	for _, s := range status {
		for _, ip := range s.IPs {
			addrs = append(addrs, act.Thing{Kind: act.Address, Name: ip})
		}
	}
	return addrs, ok
}

// pod is what a reader of the API sees.
func (o *object) pod() act.Thing {
	t := act.Thing{Kind: act.Pods, Name: o.Metadata.Namespace + "/" + o.Metadata.Name, State: o.Status.Phase, Deleted: o.Metadata.DeletionTimestamp != nil}
	switch addrs, ok := o.addresses(); {
	case ok:
		t.Parts = []act.Thing{{Kind: act.NetworkStatus, Parts: addrs}}
	case o.Metadata.Annotations[networksAnnotation] != "":
		t.Parts = []act.Thing{{Kind: act.NetworkStatus, State: act.Awaited}}
	case o.Status.PodIP != "":
		t.Parts = []act.Thing{{Kind: act.Address, Name: o.Status.PodIP}}
	}
	return t
}

func (r *Report) parse(body []byte) *object {
	o := &object{}
	if json.Unmarshal(r.json(body), o) != nil {
		return &object{}
	}
	return o
}

func (r *Report) json(body []byte) []byte {
	if r.JSON == nil {
		return body
	}
	return r.JSON(body)
}

// kubernetes decodes a request to the Kubernetes API. Timelines of every address manager need
// those about pods.
func (r *Report) kubernetes(x exchange.Exchange) act.Act {
	a := x.Act()
	if a.Thing.Kind != act.Pods || x.Bare {
		return a
	}
	name := a.Thing.Name
	switch {
	case a.Verb == act.Read && x.Status < http.StatusMultipleChoices:
		a.Thing = r.parse(x.Response).pod()
		if a.Thing.State == "" {
			a.Thing.State = "Pending"
		}
	case a.Verb == act.List:
		items := r.parse(x.Response).Items
		if len(items) == 0 {
			return a
		}
		for i := range items {
			a.Thing.Parts = append(a.Thing.Parts, items[i].pod())
		}
	case a.Verb == act.Patch || a.Verb == act.Update:
		a.Thing = r.parse(x.Request).pod()
	default:
		a.Unconfirmed = a.Verb == act.Delete && a.Subresource == "" && r.unconfirmed(x)
		return a
	}
	a.Bare, a.Thing.Name = false, name
	return a
}
