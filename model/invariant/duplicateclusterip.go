package invariant

import (
	"net/netip"

	"ipamsim/model"
)

// DuplicateClusterIP is a cluster IP of two Services: kube-proxy sends its packets to the endpoints
// of one of them. Upstream's repair loop only emits an event.
var DuplicateClusterIP = define(Invariant{
	Name:     "duplicate-cluster-ip",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "No two Services have one cluster IP.",
	Kinds:    []Kind{{"", "{address} is the cluster IP of {first} and of {second}"}},
	// The release of the address is the mistake, not the next assignment.
	Cause:    CauseRule{Start: FromWrite, Write: WriteRule{Freed: true}},
	Effect:   "clients of one Service reach the pods of the other one",
	Decision: "which Service keeps the address. The cluster IP of a Service is immutable: delete the other Service and create it again",
}, func(v View) []finding {
	return hadTwice(&v, func(s *model.Service) []netip.Addr { return s.Addrs }, model.AddressOf)
})

// hadTwice finds values that a Service has and that an earlier one also has.
func hadTwice[T comparable](v *View, what func(*model.Service) []T, ref func(T) model.Ref) (out []finding) {
	if v.Record.Services == nil {
		return nil
	}
	first := map[T]string{}
	for i := range v.Record.Services.All {
		s := &v.Record.Services.All[i]
		for _, x := range what(s) {
			other, twice := first[x]
			if !twice {
				first[x] = s.Name
			} else if other != s.Name {
				a, b := model.ServiceOf(other), model.ServiceOf(s.Name)
				out = append(out, finding{objects: []model.Ref{ref(x), a, b}, facts: []model.Fact{model.NewFact("first", a), model.NewFact("second", b)}})
			}
		}
	}
	return out
}
