package invariant

import "ipamsim/model"

// ServiceFamilies is a Service that lists an address family and has no address of it, or an address
// of another family.
var ServiceFamilies = define(Invariant{
	Name:     "service-families",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "A Service has one cluster IP of each of its IP families, in their order.",
	Kinds:    []Kind{{"", "{service} has {addresses} cluster IPs, which are not one of each of its {families} IP families"}},
	Cause:    CauseRule{Start: FromWrite},
}, func(v View) (out []finding) {
	if v.Record.Services == nil {
		return nil
	}
	for _, s := range v.Record.Services.All {
		ok := s.Headless || len(s.Addrs) == len(s.Families)
		for i := range min(len(s.Addrs), len(s.Families)) {
			ok = ok && s.Families[i] == model.FamilyOf(s.Addrs[i])
		}
		if !ok {
			out = append(out, finding{
				objects: []model.Ref{model.ServiceOf(s.Name)},
				facts:   []model.Fact{model.NewFact("addresses", len(s.Addrs)), model.NewFact("families", len(s.Families))},
			})
		}
	}
	return out
})
