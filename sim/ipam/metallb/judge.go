package metallb

import (
	"maps"
	"net"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/metallb/upstream/allocator"
	"ipamsim/sim/ipam/metallb/upstream/allocator/k8salloc"
	"ipamsim/sim/ipam/metallb/upstream/ipfamily"
	"ipamsim/sim/ipam/metallb/upstream/program"
)

// served reports whether the controller gives a Service addresses: one without a class.
//
// Source: internal/k8s/controllers, filterByLoadBalancerClass (v0.16.1), without --lb-class.
func served(x *corev1.Service) bool {
	return x.Spec.Type == corev1.ServiceTypeLoadBalancer && x.Spec.LoadBalancerClass == nil
}

// asks reports whether a Service asks for certain addresses or a certain pool.
func asks(x *corev1.Service) bool {
	for _, a := range []string{
		program.AnnotationAddressPool, program.AnnotationLoadBalancerIPs, program.DeprecatedAnnotationAddressPool, program.DeprecatedAnnotationLoadBalancerIPs,
	} {
		if x.Annotations[a] != "" {
			return true
		}
	}
	return x.Spec.LoadBalancerIP != ""
}

// judge completes what is known of Services by what a controller would say of them that
// started now: which of the addresses in their status it would not let them have, and how
// many it could give to those that have none. While what users have written is not valid,
// it says nothing: a controller would keep what it has read before.
//
// The Services whose status has addresses are told to it first, as when it starts.
//
// Source: internal/k8s/controllers, ServiceReconciler.reprocessAll; controller,
// convergeBalancer (v0.16.1).
func (r *record) judge(all map[string]*model.Balancer) {
	c, err := r.config()
	if err != nil {
		return
	}
	a := allocator.New(func(string) {})
	a.SetPools(c.Pools)
	names := slices.Sorted(maps.Keys(all))
	for _, name := range names {
		x := r.services[name].Service
		if addrs := ipam.Ingress(x); len(addrs) > 0 {
			all[name].Disallowed = a.Assign(name, x, ips(addrs), k8salloc.Ports(x), program.SharingKey(x), k8salloc.BackendKey(x)) != nil
		}
	}
	for _, name := range names {
		x := r.services[name].Service
		family, err := ipfamily.ForService(x)
		if len(all[name].Addrs) > 0 || all[name].Asked || err != nil {
			continue
		}
		if _, err := a.Allocate(name, x, family, k8salloc.Ports(x), program.SharingKey(x), k8salloc.BackendKey(x)); err != nil {
			continue
		}
		pool := a.Pool(name)
		a.Unassign(name)
		n := a.CountersForPool(pool)
		all[name].Free = int(max(1, n.AvailableIPv4+n.AvailableIPv6))
	}
}

func ips(addrs []netip.Addr) (out []net.IP) {
	for _, a := range addrs {
		out = append(out, a.AsSlice())
	}
	return out
}
