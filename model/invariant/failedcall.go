package invariant

import (
	"slices"
	"time"

	"ipamsim/model"
)

// Codes of FailedCall: which call.
const (
	failedAdd = "add"
	failedDel = "del"
)

// FailedCall is a pod that never starts or never terminates, although its kubelet retries.
//
// Only a failure of the manager itself counts: no fault affected the call, its machine was healthy
// all the time, no message of the manager took long during it, and it was not a panic (ActorCrash).
// An ADD counts while policy left an address free at every instant of it, unless the pod requested
// certain addresses or is no longer wanted, which its kubelet may learn late. An ADD that was
// refused for lack of addresses belongs to SpuriousExhaustion.
var FailedCall = define(Invariant{
	Name:     "failed-call",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No ADD with addresses left, and no DEL, fails again and again on a healthy node.",
	Kinds: []Kind{
		{failedAdd, "{call} of {pod} on {node} in network {network}, with at least {free} free at all times, has failed {times} times in a row since {since}: {error}"},
		{failedDel, "{call} of {pod} on {node} in network {network} has failed {times} times in a row since {since}: {error}"},
	},
	Cause: CauseRule{Start: FromRefusal},
}, func(v View) []finding {
	if v.Past == nil {
		return nil
	}
	return v.Past.calls.failed
})

// A call fails repeatedly after failuresMin failures in a row that last for failingFor, from the
// beginning of the first to the end of the last. failingFor is longer than young: a delayed process
// that holds a lock makes others fail for that long.
const (
	failuresMin = 3
	failingFor  = 45 * time.Second
)

// streak is failures in a row.
type streak struct {
	count     int
	since     time.Duration // the first one began
	container string        // of a DEL: the DEL of another sandbox is not a repetition
}

// noteFailure counts the end of a call.
func (c *calls) noteFailure(v *View, e *model.Event) {
	key := callKey{del: e.Kind == model.DelEnd, pod: e.Pod, iface: e.Interface}
	if e.Err == "" || !own(v, e) {
		delete(c.failing, key)
		return
	}
	s := c.failing[key]
	if s.count == 0 || key.del && s.container != e.Container {
		s = streak{since: e.Begun, container: e.Container}
	}
	s.count++
	c.failing[key] = s
	if s.count >= failuresMin && e.At-s.since >= failingFor {
		c.failed = append(c.failed, s.finding(e))
		delete(c.failing, key) // it is reported once
	}
}

// own reports whether the manager alone caused the failure of a call.
func own(v *View, e *model.Event) bool {
	if e.Disturbed || e.Asked || e.Exhausted || e.Kind == model.AddEnd && (e.MinFree <= 0 || !wanted(v, e)) {
		return false
	}
	return !panicked(v, e)
}

// wanted reports whether the pod of an ADD is there, and to be.
func wanted(v *View, e *model.Event) bool {
	pod, ok := v.Truth.Pods[e.Pod]
	if !ok || pod.Deleting {
		return false
	}
	i := slices.IndexFunc(v.Truth.Sandboxes, func(s model.Sandbox) bool { return s.ID == e.Container })
	return i < 0 || v.Truth.Sandboxes[i].UID == pod.UID
}

func (s *streak) finding(e *model.Event) finding {
	f := finding{
		code:    failedDel,
		objects: []model.Ref{callName(e), model.PodOf(e.Pod), networkName(e.Network)},
		facts: []model.Fact{
			model.NewFact("node", nodeName(e.Node)), model.NewFact("times", s.count),
			model.NewFact("since", s.since), model.NewFact("error", firstLine(e.Err)),
		},
	}
	if e.Kind == model.AddEnd {
		f.code, f.facts = failedAdd, append(f.facts, model.NewFact("free", e.MinFree))
	}
	if e.Site.Known() {
		f.facts = append(f.facts, model.NewFact("site", e.Site))
	}
	return f
}

// callName is ADD or DEL.
func callName(e *model.Event) model.Ref {
	if e.Kind == model.DelEnd {
		return model.Ref{Kind: model.RefCall, Name: "DEL"}
	}
	return model.Ref{Kind: model.RefCall, Name: "ADD"}
}
