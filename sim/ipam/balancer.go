package ipam

import (
	"encoding/json"
	"net/netip"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim/kube"
)

// ServicesResource is the resource of Services.
const ServicesResource = "services"

// ActOfBalancer describes a message about a Service with the addresses of its load balancer, and a
// write of its status with the addresses that it assigns.
func ActOfBalancer(x kube.Exchange) act.Act {
	a := x.Act()
	if x.Bare || a.Verb == act.List {
		return a
	}
	body := x.Response
	if a.Write() {
		body = x.Request
	}
	if a.Verb == act.Hear {
		var ok bool
		if body, a.Gone, ok = Heard(body); !ok {
			return a
		}
	}
	s := &corev1.Service{}
	if json.Unmarshal(body, s) != nil || s.Name == "" {
		return a
	}
	a.Bare, a.Thing.Name, a.Thing.Revision = false, s.Namespace+"/"+s.Name, s.ResourceVersion
	for _, addr := range Ingress(s) {
		a.Thing.Parts = append(a.Thing.Parts, act.Thing{Kind: act.Address, Name: addr.String(), Owner: model.ServiceOf(a.Thing.Name)})
	}
	if a.Write() {
		a.If, a.Thing.Revision = s.ResourceVersion, ""
		if x.Subresource == "status" {
			a.Gives, a.Thing.Parts = a.Thing.Parts, nil
		}
	}
	return a
}

// Ingress returns the addresses of a Service's load balancer, in the order of its status.
func Ingress(s *corev1.Service) (out []netip.Addr) {
	for _, i := range s.Status.LoadBalancer.Ingress {
		if a, err := netip.ParseAddr(i.IP); err == nil {
			out = append(out, a)
		}
	}
	return out
}
