package invariant

import "ipamsim/model"

// ServiceNodePorts is a Service that needs node ports and has none.
var ServiceNodePorts = define(Invariant{
	Name:     "service-node-ports",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "A Service has a node port for each of its ports that is to have one, and for its health check.",
	Kinds:    []Kind{{"", "{service} has no node port for {ports} of those of its ports that are to have one"}},
	Cause:    CauseRule{Start: FromWrite},
}, func(v View) (out []finding) {
	if v.Record.Services == nil {
		return nil
	}
	for _, s := range v.Record.Services.All {
		if s.Unported > 0 {
			out = append(out, finding{objects: []model.Ref{model.ServiceOf(s.Name)}, facts: []model.Fact{model.NewFact("ports", s.Unported)}})
		}
	}
	return out
})
