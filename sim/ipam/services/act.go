package services

import (
	"encoding/json"
	"net/netip"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim/kube"
)

// actOf says of a request to etcd, or of an event, which Service it gives an address or
// from which it takes one.
func actOf(x kube.Stored) act.Act {
	a := act.Act{Verb: act.Verb(x.Verb), Gone: x.Gone, Bare: x.Bare}
	a.Thing = act.Thing{Kind: act.Kind(x.Resource), Name: nameOf(x)}
	if x.Conflict {
		a.Outcome = act.Conflict
	}
	if x.If != 0 {
		a.If = strconv.FormatInt(x.If, 10)
	}
	if x.Revision != 0 && a.Write() {
		a.Left = strconv.FormatInt(x.Revision, 10)
	} else if x.Revision != 0 {
		a.Thing.Revision = strconv.FormatInt(x.Revision, 10)
	}
	switch x.Resource {
	case addressesResource:
		given(&a, x)
	case servicesResource:
		a.Thing.Parts = addressesOf(x)
	}
	return a
}

func nameOf(x kube.Stored) string {
	if x.Namespace != "" {
		return x.Namespace + "/" + x.Name
	}
	return x.Name
}

// given says what becomes of an IPAddress.
func given(a *act.Act, x kube.Stored) {
	addr := act.Thing{Kind: act.Address, Name: x.Name}
	var o networkingv1.IPAddress
	if json.Unmarshal(kube.JSON(x.Object), &o) == nil && o.Spec.ParentRef != nil {
		addr.Owner = model.ServiceOf(o.Spec.ParentRef.Namespace + "/" + o.Spec.ParentRef.Name)
	}
	a.Thing.Owner = addr.Owner
	switch a.Verb {
	case act.Create:
		a.Gives = []act.Thing{addr}
	case act.Delete:
		a.Takes = []act.Thing{addr}
	}
}

// addressesOf are the cluster IPs of a Service.
func addressesOf(x kube.Stored) (out []act.Thing) {
	var o corev1.Service
	if json.Unmarshal(kube.JSON(x.Object), &o) != nil {
		return nil
	}
	for _, text := range o.Spec.ClusterIPs {
		if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, act.Thing{Kind: act.Address, Name: a.String(), Owner: model.ServiceOf(nameOf(x))})
		}
	}
	return out
}
