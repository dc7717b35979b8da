package invariant

import "ipamsim/model"

// DuplicateNodePort is a node port that every node forwards for one of two Services.
var DuplicateNodePort = define(Invariant{
	Name:     "duplicate-node-port",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "No two Services have one node port of one protocol.",
	Kinds:    []Kind{{"", "{nodeport} is a node port of {first} and of {second}"}},
}, func(v View) (out []finding) {
	if v.Record.Services == nil {
		return nil
	}
	first := map[model.NodePort]string{}
	for _, s := range v.Record.Services.All {
		for _, p := range s.Ports {
			other, twice := first[p]
			if !twice {
				first[p] = s.Name
			} else if other != s.Name {
				out = append(out, twoServices(model.NodePortOf(p.Port), other, s.Name))
			}
		}
	}
	return out
})
