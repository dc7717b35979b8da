package invariant

import (
	"fmt"

	"ipamsim/model"
)

// SpuriousExhaustion is a pod that cannot start although there is room: an ADD
// refused for lack of addresses while policy left one at every instant of it.
var SpuriousExhaustion = define(Invariant{
	Name:     "spurious-exhaustion",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No ADD is refused for lack of addresses while policy leaves one free.",
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
			message: fmt.Sprintf("ADD of %s on %s was refused at %s for lack of addresses in network %s, which never had fewer than %d free",
				e.Pod, e.Node, clock(e.At), e.Network, e.MinFree),
			objects: []model.Ref{networkName(e.Network), model.PodOf(e.Pod)},
		})
	}
	return out
})
