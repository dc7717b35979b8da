package invariant

import "ipamsim/model"

// LeakedLoadBalancerIP is an address that no Service can get any more: its Service was deleted, or
// was deleted and created again under the same name.
var LeakedLoadBalancerIP = define(Invariant{
	Name:     "leaked-load-balancer-ip",
	Severity: model.Minor,
	Phase:    Quiescent,
	Doc:      "Once all is calm, every address that is claimed for a Service's load balancer is claimed for a Service that asks for one.",
	Kinds:    []Kind{{"", "after convergence {address} is still claimed[ in block {block}] for {service}, which is gone or asks for none"}},
	Cause:    CauseRule{Start: FromWrite},
}, func(v View) (out []finding) {
	if v.Record.Services == nil || !served(&v) {
		return nil
	}
	live := map[string]bool{}
	for _, s := range balanced(&v) {
		live[s.Balancer.Handle] = true
	}
	for i := range v.Record.Claims {
		if c := &v.Record.Claims[i]; c.Service != "" && !live[c.Handle] {
			out = append(out, finding{objects: []model.Ref{model.AddressOf(c.Addr), place(&v, c), model.ServiceOf(c.Service)}})
		}
	}
	return out
})
