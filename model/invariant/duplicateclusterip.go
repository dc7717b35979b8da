package invariant

import (
	"net/netip"

	"ipamsim/model"
)

// DuplicateClusterIP is what users notice: kube-proxy sends what goes to an address to the
// endpoints of one of two Services. Upstream's repair only tells of it, in an event.
var DuplicateClusterIP = define(Invariant{
	Name:     "duplicate-cluster-ip",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "No two Services have one cluster IP.",
	Kinds:    []Kind{{"", "{address} is the cluster IP of {first} and of {second}"}},
}, func(v View) (out []finding) {
	if v.Record.Services == nil {
		return nil
	}
	first := map[netip.Addr]string{}
	for _, s := range v.Record.Services.All {
		for _, a := range s.Addrs {
			other, twice := first[a]
			if !twice {
				first[a] = s.Name
			} else if other != s.Name {
				out = append(out, twoServices(model.AddressOf(a), other, s.Name))
			}
		}
	}
	return out
})

func twoServices(of model.Ref, first, second string) finding {
	a, b := model.ServiceOf(first), model.ServiceOf(second)
	return finding{objects: []model.Ref{of, a, b}, facts: []model.Fact{model.NewFact("first", a), model.NewFact("second", b)}}
}
