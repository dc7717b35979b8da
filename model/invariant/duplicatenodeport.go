package invariant

import "ipamsim/model"

// DuplicateNodePort is a node port that every node forwards for one of two Services.
var DuplicateNodePort = define(Invariant{
	Name:     "duplicate-node-port",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "No two Services have one node port of one protocol.",
	Kinds:    []Kind{{"", "{nodeport} is a node port of {first} and of {second}"}},
	Cause:    CauseRule{Start: FromWrite, Write: WriteRule{Unmarked: true}},
}, func(v View) []finding {
	return hadTwice(&v, func(s *model.Service) []model.NodePort { return s.Ports }, func(p model.NodePort) model.Ref { return model.NodePortOf(p.Port) })
})
