package invariant

import "ipamsim/model"

// DisallowedLoadBalancerIP is a Service that keeps an address which its manager would not
// give it: of a pool that is gone or smaller now, or one that it may not share any more.
var DisallowedLoadBalancerIP = define(Invariant{
	Name:     "disallowed-load-balancer-ip",
	Severity: model.Major,
	Phase:    Quiescent,
	Doc:      "Once all is calm, no Service of type LoadBalancer has an address that the pools and the Services, as they are by then, do not allow it.",
	Kinds:    []Kind{{"", "after convergence {service} still has {is}, which it would not be given now"}},
	Cause:    CauseRule{Start: FromWrite},
	Decision: "which pool gets the address, or whether the Service gets another one",
}, func(v View) (out []finding) {
	if !served(&v) {
		return nil
	}
	for _, s := range balanced(&v) {
		if s.Balancer.Disallowed {
			f := finding{objects: []model.Ref{model.ServiceOf(s.Name)}}
			for _, a := range s.Balancer.Addrs {
				f.objects = append(f.objects, model.AddressOf(a)) // the process that assigned it is the cause
				f.facts = append(f.facts, model.NewFact("is", model.AddressOf(a)))
			}
			out = append(out, f)
		}
	}
	return out
})
