package invariant

import (
	"net/netip"

	"ipamsim/model"
)

// DuplicateLoadBalancerIP is what users notice: whatever announces the address sends what
// comes to it to one of two Services, or to both by turns.
var DuplicateLoadBalancerIP = define(Invariant{
	Name:     "duplicate-load-balancer-ip",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "No two Services of type LoadBalancer have one address.",
	Kinds:    []Kind{{"", "{address} is the load balancer's address of {first} and of {second}"}},
}, func(v View) []finding {
	return hadTwice(&v, func(s *model.Service) []netip.Addr {
		if s.Balancer == nil {
			return nil
		}
		return s.Balancer.Addrs
	}, model.AddressOf)
})

// balanced are the Services of type LoadBalancer that the manager serves.
func balanced(v *View) (out []*model.Service) {
	if v.Record.Services == nil {
		return nil
	}
	for i := range v.Record.Services.All {
		if s := &v.Record.Services.All[i]; s.Balancer != nil {
			out = append(out, s)
		}
	}
	return out
}
