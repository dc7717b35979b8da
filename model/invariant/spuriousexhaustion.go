package invariant

import "ipamsim/model"

// SpuriousExhaustion is a pod that cannot start although there is room: an ADD
// refused for lack of addresses while policy left one at every instant of it.
var SpuriousExhaustion = define(Invariant{
	Name:     "spurious-exhaustion",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No ADD is refused for lack of addresses while policy leaves one free.",
	Kinds:    []Kind{{"", "ADD of {pod} on {node} was refused at {at} for lack of addresses in network {network}, which never had fewer than {free} free"}},
	Cause:    CauseRule{Start: FromRefusal, Identity: Identity{AnyError: true}},
}, func(v View) []finding {
	if v.History == nil {
		return nil
	}
	var out []finding
	for _, i := range v.History.Refusals() {
		e := &v.History.Events[i]
		if e.MinFree <= 0 {
			continue
		}
		out = append(out, finding{
			objects: []model.Ref{networkName(e.Network), model.PodOf(e.Pod)},
			facts:   []model.Fact{model.NewFact("node", nodeName(e.Node)), model.NewFact("at", e.At), model.NewFact("free", e.MinFree)},
		})
	}
	return out
})
