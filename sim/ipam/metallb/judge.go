package metallb

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"ipamsim/model"
	reference "ipamsim/model/reference/metallb"
	"ipamsim/sim/ipam"
)

// What Services say to MetalLB, under its name of now and the one it had before.
//
// Source: website/content/usage; controller/service.go (v0.16.2).
const (
	poolAnnotation    = "address-pool"
	addrsAnnotation   = "loadBalancerIPs"
	sharingAnnotation = "allow-shared-ip"
)

// annotation is what a Service says; that under the name of now counts, if it is there.
func annotation(x *corev1.Service, key string) string {
	if s, ok := x.Annotations["metallb.io/"+key]; ok {
		return s
	}
	return x.Annotations["metallb.universe.tf/"+key]
}

// served reports whether the controller gives a Service addresses: one without a class.
//
// Source: internal/k8s/controllers, filterByLoadBalancerClass (v0.16.2), without --lb-class.
func served(x *corev1.Service) bool {
	return x.Spec.Type == corev1.ServiceTypeLoadBalancer && x.Spec.LoadBalancerClass == nil
}

// termsOf are the terms on which a Service shares an address.
//
// Source: internal/allocator/k8salloc (v0.16.2).
func termsOf(x *corev1.Service) model.Terms {
	t := model.Terms{Key: annotation(x, sharingAnnotation)}
	if x.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal {
		t.Backend = labels.Set(x.Spec.Selector).String()
	}
	for _, p := range x.Spec.Ports {
		t.Ports = append(t.Ports, model.NodePort{Port: int(p.Port), Protocol: string(p.Protocol)})
	}
	return t
}

// judge adds to the Services the result of a controller that started now: which of the addresses in
// their status it would not let them keep, and how many it could assign to those without one. While
// the configuration is invalid, it adds nothing: a controller would keep its last valid
// configuration. It returns the pools' status and the status of the configuration.
func (r *record) judge(all map[string]*model.Balancer) ([]model.PoolStatus, *model.ConfigStatus) {
	pools, err := r.policy()
	config := &model.ConfigStatus{Name: stateName, Says: cmp.Or(string(r.says.Result), model.ConfigUnknown), Why: r.says.ErrorSummary, Valid: err == nil}
	if err != nil {
		return nil, config
	}
	names, services := slices.Sorted(maps.Keys(all)), []reference.Service{}
	for _, name := range names {
		services = append(services, judged(name, r.services[name].Service))
	}
	verdicts, uses := reference.Judge(pools, services)
	for i, v := range verdicts {
		all[names[i]].Disallowed, all[names[i]].Free = v.Disallowed, v.Free
	}
	var out []model.PoolStatus
	for i, u := range uses {
		x := r.pools[namespace+"/"+pools[i].Name].Status
		out = append(out,
			model.PoolStatus{Pool: pools[i].Name, Family: "IPv4", Assigned: int(x.AssignedIPv4), Free: int(x.AvailableIPv4), Used: u.Assigned[0], Unused: u.Free[0]},
			model.PoolStatus{Pool: pools[i].Name, Family: "IPv6", Assigned: int(x.AssignedIPv6), Free: int(x.AvailableIPv6), Used: u.Assigned[1], Unused: u.Free[1]})
	}
	return out, config
}

// judged is a Service in the form of the reference.
func judged(name string, x *corev1.Service) reference.Service {
	s := reference.Service{Name: name, Labels: x.Labels, Terms: termsOf(x), Pool: annotation(x, poolAnnotation), Has: ipam.Ingress(x)}
	s.Prefer = x.Spec.IPFamilyPolicy != nil && *x.Spec.IPFamilyPolicy == corev1.IPFamilyPolicyPreferDualStack
	for _, text := range append(slices.Clone(x.Spec.ClusterIPs), x.Spec.ClusterIP) {
		if a, err := netip.ParseAddr(text); err == nil {
			s.V4, s.V6 = s.V4 || a.Is4(), s.V6 || !a.Is4()
		}
	}
	var ok bool
	s.Asks, ok = reference.Asks(annotation(x, addrsAnnotation), x.Spec.LoadBalancerIP)
	s.Wrong = !ok
	return s
}
