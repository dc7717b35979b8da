package invariant

import "ipamsim/model"

// SurplusLoadBalancerIP is a Service that was given a second address: it answers at both,
// and the pool is the poorer for it until the Service is deleted.
var SurplusLoadBalancerIP = define(Invariant{
	Name:     "surplus-load-balancer-ip",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No Service of type LoadBalancer has more addresses than one of each of its IP families.",
	Kinds:    []Kind{{"", "{service} has {addresses} {family} addresses of its load balancer, and asks for {asks}: {is}"}},
	Cause:    CauseRule{Start: FromWrite},
	Decision: "which of the addresses the Service keeps",
}, func(v View) (out []finding) {
	for _, s := range balanced(&v) {
		for _, family := range []string{"IPv4", "IPv6"} {
			facts := []model.Fact{model.NewFact("family", family)}
			n := 0
			for _, a := range s.Balancer.Addrs {
				if model.FamilyOf(a) == family {
					n++
					facts = append(facts, model.NewFact("is", model.AddressOf(a)))
				}
			}
			if asks := asks(s.Balancer, family); n > asks {
				out = append(out, finding{
					objects: []model.Ref{model.ServiceOf(s.Name)},
					facts:   append(facts, model.NewFact("addresses", n), model.NewFact("asks", asks)),
				})
			}
		}
	}
	return out
})

// asks is how many addresses of a family a Service asks for.
func asks(b *model.Balancer, family string) (n int) {
	for _, f := range b.Families {
		if f == family {
			n++
		}
	}
	return n
}
