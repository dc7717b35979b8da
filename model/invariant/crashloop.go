package invariant

import (
	"time"

	"ipamsim/model"
)

// CrashLoop is a daemon that Kubernetes restarts repeatedly: while it is down, and until its next
// start fails with the same error, its work is not done.
//
// An exit counts if it has a reason (an exit by log.Fatal has none: calico-node's allocation of
// tunnel addresses ends this way if the pools are full), if the process was not killed and did not
// panic (ActorCrash), if nothing has disturbed it since its last exit, and if the last exit was not
// so long ago that Kubernetes has reset its back-off.
//
// Source: pkg/kubelet/kubelet.go, MaxContainerBackOff (5m); a container that ran for twice
// that has its back-off reset (v1.37).
var CrashLoop = define(Invariant{
	Name:     "crash-loop",
	Severity: model.Major,
	Phase:    Always,
	Doc:      "No daemon of the address manager exits with an error again and again while nothing disturbs it.",
	Kinds:    []Kind{{"", "{actor} has exited {times} times in a row since {since}: {error}"}},
	Cause:    CauseRule{Start: FromExit},
}, func(v View) []finding {
	if v.Past == nil {
		return nil
	}
	return v.Past.calls.loops
})

// backOffReset is after what time of running a container's back-off begins with its first
// step again.
const backOffReset = 10 * time.Minute

// exits are consecutive exits of one daemon.
type exits struct {
	count       int
	since, last time.Duration
}

// noteExit counts the end of a daemon.
func (c *calls) noteExit(v *View, e *model.Event) {
	name := e.Daemon()
	x := c.exits[name]
	if e.Err == "" || e.Disturbed || panicked(v, e) {
		delete(c.exits, name)
		return
	}
	if x.count == 0 || e.At-x.last > backOffReset || max(disturbed(v), v.Late, v.GaveUp) > x.last || e.Node != "" && !v.Truth.Nodes[e.Node].WellSince(x.last) {
		x = exits{since: e.At}
	}
	x.count++
	x.last = e.At
	c.exits[name] = x
	if x.count >= failuresMin && e.At-x.since >= failingFor {
		c.loops = append(c.loops, finding{
			objects: []model.Ref{actorName(name)},
			facts:   []model.Fact{model.NewFact("times", x.count), model.NewFact("since", x.since), model.NewFact("error", firstLine(e.Err))},
		})
		delete(c.exits, name) // it is reported once
	}
}

// panicked reports whether the process of an event has panicked.
func panicked(v *View, e *model.Event) bool {
	for _, i := range v.History.Panics() {
		if v.History.Events[i].Actor == e.Actor {
			return true
		}
	}
	return false
}
