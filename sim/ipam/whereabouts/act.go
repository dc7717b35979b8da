package whereabouts

import (
	"encoding/json"
	"net"
	"net/http"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim/kube"
)

// Act describes an exchange in Whereabouts' terms: what was read at which revision, what a patch
// writes or removes and under which condition, which process acquires the lease.
func (i *instance) Act(detail any) act.Act {
	x, ok := detail.(kube.Exchange)
	if !ok || x.Bare || x.Subresource != "" {
		return act.Act{}
	}
	a := x.Act()
	describe := map[string]func(kube.Exchange, *act.Act) bool{
		poolsResource: actOfPool, reservationsResource: actOfReservation, "leases": actOfLease, "pods": actOfPod, "nodeslicepools": actOfSlices,
	}[x.Resource]
	if describe == nil || !describe(x, &a) {
		return act.Act{}
	}
	a.Bare = false
	return a
}

// stored is the part of an object that a description needs. It reads IPPools,
// reservations, leases, node slices, pods, lists of them and watch events.
type stored struct {
	Type     string  `json:"type"`   // of a watch event
	Object   *stored `json:"object"` // of a watch event
	Metadata struct {
		Namespace       string            `json:"namespace"`
		Name            string            `json:"name"`
		ResourceVersion string            `json:"resourceVersion"`
		Deletion        *string           `json:"deletionTimestamp"`
		Annotations     map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Range          string                `json:"range"`
		Allocations    map[string]allocation `json:"allocations"`
		PodRef         string                `json:"podref"`
		HolderIdentity *string               `json:"holderIdentity"`
		AcquireTime    string                `json:"acquireTime"`
		RenewTime      string                `json:"renewTime"`
	} `json:"spec"`
	Status struct {
		Phase       string `json:"phase"`
		Allocations []struct {
			NodeName   string `json:"nodeName"`
			SliceRange string `json:"sliceRange"`
		} `json:"allocations"`
	} `json:"status"`
	Items []stored `json:"items"`
}

type allocation struct {
	ID     string `json:"id"`
	PodRef string `json:"podref"`
	IfName string `json:"ifname"`
}

// read decodes a body; what cannot be read is an empty object. A Status in place
// of an answer has a status of another shape.
func read(body []byte) *stored {
	s := &stored{}
	if json.Unmarshal(kube.JSON(body), s) != nil {
		return &stored{}
	}
	return s
}

// answer is what the server found or left, nil if it refused or if that is not known.
func answer(x kube.Exchange) *stored {
	if x.Status < http.StatusOK || x.Status >= http.StatusMultipleChoices || x.Response == nil {
		return nil
	}
	return read(x.Response)
}

// listed are the things of an answer to a list.
func listed(x kube.Exchange, a *act.Act, of act.Kind, thing func(*stored) act.Thing) bool {
	a.Thing = act.Thing{Kind: of}
	o := answer(x)
	if o == nil {
		return a.Outcome != act.Done
	}
	for i := range o.Items {
		a.Thing.Parts = append(a.Thing.Parts, thing(&o.Items[i]))
	}
	return true
}

func actOfReservation(x kube.Exchange, a *act.Act) bool {
	a.Thing = reservationThing(x.Name)
	switch a.Verb {
	case act.Create:
		a.Thing.Owner = podNamed(read(x.Request).Spec.PodRef)
		return true
	case act.Delete:
		return true
	case act.Read:
		o := answer(x)
		if o != nil {
			a.Thing.Owner = podNamed(o.Spec.PodRef)
		}
		return o != nil || a.Outcome != act.Done
	case act.List:
		return listed(x, a, act.Reservation, func(o *stored) act.Thing {
			t := reservationThing(o.Metadata.Name)
			t.Owner = podNamed(o.Spec.PodRef)
			return t
		})
	}
	return false
}

// reservationThing has the address, if the name says one.
func reservationThing(name string) act.Thing {
	t := act.Thing{Kind: act.Reservation, Name: name}
	if _, addr, ok := reserved(name); ok {
		t.Parts = []act.Thing{{Kind: act.Address, Name: addr.String()}}
	}
	return t
}

// podNamed refers to a pod, or to none.
func podNamed(podref string) model.Ref {
	if podref == "" {
		return model.Ref{}
	}
	return model.Ref{Kind: model.RefPod, Name: podref}
}

// onlyLease is the only lease if there are no node slices.
const onlyLease = "whereabouts"

// actOfLease distinguishes acquiring a lease from renewing it by what client-go writes: only when
// a lease is acquired are acquireTime and renewTime equal. The holder of the lease is named after
// the pod that it works for.
//
// Source: client-go/tools/leaderelection, tryAcquireOrRenew and release.
func actOfLease(x kube.Exchange, a *act.Act) bool {
	a.Thing = act.Thing{Kind: act.Lease, Name: x.Name}
	if x.Name == onlyLease {
		a.Thing.Name = ""
	}
	o := answer(x)
	switch a.Verb {
	case act.Read:
		if o != nil {
			a.Thing.Owner = podNamed(o.holder())
		}
		return o != nil || a.Outcome != act.Done
	case act.Create, act.Update:
		o = read(x.Request)
		a.Thing.Owner = podNamed(o.holder())
		switch {
		case o.holder() == "":
			a.Thing.State = act.Released
		case o.Spec.AcquireTime == o.Spec.RenewTime:
			a.Thing.State = act.Taken
		default:
			a.Thing.State = act.Renewed
		}
		return true
	}
	return false
}

func (o *stored) holder() string {
	if o.Spec.HolderIdentity == nil {
		return ""
	}
	return *o.Spec.HolderIdentity
}

// actOfSlices adds which node has which slice; Size is how many there are.
func actOfSlices(x kube.Exchange, a *act.Act) bool {
	a.Thing = act.Thing{Kind: act.Slices, Name: x.Name}
	var o *stored
	switch a.Verb {
	case act.Read:
		if o = answer(x); o == nil {
			return a.Outcome != act.Done
		}
	case act.Create, act.Update:
		o = read(x.Request)
	case act.Delete:
		return true
	default:
		return false
	}
	a.Thing.Size = len(o.Status.Allocations)
	for _, s := range o.Status.Allocations {
		if s.NodeName != "" {
			a.Thing.Parts = append(a.Thing.Parts, act.Thing{Kind: act.Range, Name: s.SliceRange, Owner: model.Ref{Kind: model.RefNode, Name: s.NodeName}})
		}
	}
	return true
}

// firstOf is the address that a pool's range is written with.
func firstOf(text string) net.IP {
	ip, _, err := net.ParseCIDR(text)
	if err != nil {
		return nil
	}
	return ip
}
