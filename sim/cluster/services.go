package cluster

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"ipamsim/model"
	"ipamsim/sim/kube"
)

// The resources by which addresses are Services'.
const (
	servicesOf = "services"
	rangesOf   = "servicecidrs"
)

// serviceChanged records the addresses of a Service, or of a range of cluster IPs: no pod can have
// such an address, because every node sends packets to it elsewhere. A node port is not an address.
func (c *Cluster) serviceChanged(ch kube.Change) {
	if c.Config.Primary == "" {
		return
	}
	switch ch.Resource {
	case servicesOf:
		s, _ := ch.Object.(*corev1.Service)
		c.Checker.Takes(model.ServiceOf(ch.Namespace+"/"+ch.Name), addressesOf(s))
	case rangesOf:
		var ranges []netip.Prefix
		if r, ok := ch.Object.(*networkingv1.ServiceCIDR); ok {
			for _, text := range r.Spec.CIDRs {
				if p, err := netip.ParsePrefix(text); err == nil {
					ranges = append(ranges, p.Masked())
				}
			}
		}
		c.Checker.Takes(model.Ref{Kind: model.RefRange, Name: ch.Name}, ranges)
	}
}

// addressesOf are the addresses of a Service: cluster IPs, external IPs and those of its load
// balancer; none for nil.
func addressesOf(s *corev1.Service) (out []netip.Prefix) {
	if s == nil {
		return nil
	}
	all := append([]string{s.Spec.ClusterIP}, s.Spec.ClusterIPs...)
	all = append(all, s.Spec.ExternalIPs...)
	for _, in := range s.Status.LoadBalancer.Ingress {
		all = append(all, in.IP)
	}
	seen := map[netip.Addr]bool{}
	for _, text := range all {
		if a, err := netip.ParseAddr(text); err == nil && !seen[a] { // "None", "" and host names are no addresses
			seen[a] = true
			out = append(out, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	return out
}
