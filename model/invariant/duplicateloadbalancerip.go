package invariant

import (
	"net/netip"
	"slices"

	"ipamsim/model"
)

// DuplicateLoadBalancerIP is an error that users notice: traffic to the address goes to one of two
// Services, or alternates between both.
var DuplicateLoadBalancerIP = define(Invariant{
	Name:     "duplicate-load-balancer-ip",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "No two Services of type LoadBalancer have one address, but where they agree to share it.",
	Kinds:    []Kind{{"", "{address} is the load balancer's address of {first} and of {second}"}},
	Cause:    CauseRule{Start: FromWrite},
}, func(v View) (out []finding) {
	have := map[netip.Addr][]*model.Service{}
	for _, s := range balanced(&v) {
		for _, a := range s.Balancer.Addrs {
			i := slices.IndexFunc(have[a], func(o *model.Service) bool { return o != s && !o.Balancer.Shares(s.Balancer) })
			if i >= 0 {
				first, second := model.ServiceOf(have[a][i].Name), model.ServiceOf(s.Name)
				out = append(out, finding{
					objects: []model.Ref{model.AddressOf(a), first, second},
					facts:   []model.Fact{model.NewFact("first", first), model.NewFact("second", second)},
				})
			}
			have[a] = append(have[a], s)
		}
	}
	return out
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
