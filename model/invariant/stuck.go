package invariant

import (
	"slices"
	"time"

	"ipamsim/model"
)

// Codes of Stuck: which call.
const (
	stuckAdd    = "add"
	stuckDel    = "del"
	timedOutAdd = "add-timed-out"
	timedOutDel = "del-timed-out"
)

// Stuck is a CNI call that does not return although its node is well, within the scenario's
// bound or before the container runtime ends it. A call on a node that was down, paused or
// cut off is given the whole bound again from when that ended.
var Stuck = define(Invariant{
	Name:     "stuck",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "Every CNI call on a healthy node returns within the scenario's bound.",
	Kinds: []Kind{
		{stuckAdd, "{call} of {pod} (container {container}) on {node} has not returned[ since {since}]"},
		{stuckDel, "{call} of {pod} (container {container}) on {node} has not returned[ since {since}]"},
		{timedOutAdd, "{call} of {pod} (container {container}) on {node} has not returned[ since {since}], and the container runtime has ended it"},
		{timedOutDel, "{call} of {pod} (container {container}) on {node} has not returned[ since {since}], and the container runtime has ended it"},
	},
	Cause: CauseRule{Start: FromRelease, Delayed: true},
	Fatal: true,
}, func(v View) []finding {
	if v.Settings.StuckAfter <= 0 {
		return nil
	}
	var out []finding
	if v.Past != nil {
		out = v.Past.calls.timedOut
	}
	for id, b := range v.Truth.Busy {
		node, ok := v.Truth.Nodes[b.Node]
		if !ok || !node.Healthy() || v.Truth.At-max(b.Since, node.Since) <= v.Settings.StuckAfter {
			continue
		}
		code, call := stuckAdd, "ADD"
		if b.Del {
			code, call = stuckDel, "DEL"
		}
		out = append(slices.Clip(out), finding{
			code:    code,
			objects: []model.Ref{model.Ref{Kind: model.RefCall, Name: call}, containerName(id), model.PodOf(b.Pod), nodeName(b.Node)},
			facts:   []model.Fact{model.NewFact("since", b.Since)},
		})
	}
	return out
})

// timeoutMin is how long a call took at least for its end to be its own: one that begins
// shortly before the runtime gives up has no time.
const timeoutMin = 100 * time.Second

// noteTimeout takes note of a call that the container runtime has ended, though no fault met
// it and no message took long.
func (c *calls) noteTimeout(v *View, e *model.Event) {
	node := v.Truth.Nodes[e.Node]
	if !e.TimedOut || e.Disturbed || !node.Healthy() || e.At-max(e.Begun, node.Since) < timeoutMin {
		return
	}
	code := timedOutAdd
	if e.Kind == model.DelEnd {
		code = timedOutDel
	}
	c.timedOut = append(c.timedOut, finding{
		code:    code,
		objects: []model.Ref{callName(e), containerName(e.Container), model.PodOf(e.Pod), nodeName(e.Node)},
		facts:   []model.Fact{model.NewFact("since", e.Begun)},
	})
}
