package invariant

import "ipamsim/model"

// Codes of Stuck: which call.
const (
	stuckAdd = "add"
	stuckDel = "del"
)

// Stuck is a CNI call that does not return although its node is well. A call on
// a node that was down, paused or cut off is given the whole bound again from
// when that ended.
var Stuck = define(Invariant{
	Name:     "stuck",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "Every CNI call on a healthy node returns within the scenario's bound.",
	Kinds: []Kind{
		{stuckAdd, "{call} of {pod} (container {container}) on {node} has not returned[ since {since}]"},
		{stuckDel, "{call} of {pod} (container {container}) on {node} has not returned[ since {since}]"},
	},
}, func(v View) []finding {
	if v.Settings.StuckAfter <= 0 {
		return nil
	}
	var out []finding
	for id, b := range v.Truth.Busy {
		node, ok := v.Truth.Nodes[b.Node]
		if !ok || !node.Healthy() || v.Truth.At-max(b.Since, node.Since) <= v.Settings.StuckAfter {
			continue
		}
		code, call := stuckAdd, "ADD"
		if b.Del {
			code, call = stuckDel, "DEL"
		}
		out = append(out, finding{
			code:    code,
			objects: []model.Ref{model.Ref{Kind: model.RefCall, Name: call}, containerName(id), model.PodOf(b.Pod), nodeName(b.Node)},
			facts:   []model.Fact{model.NewFact("since", b.Since)},
		})
	}
	return out
})
