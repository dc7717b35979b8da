package space

import (
	"slices"
	"time"

	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/way"
)

// Faults draws the faults of messages: none in two of five worlds, otherwise a few, of a random subset
// of the kinds (swarm), at rates low enough for calls to end.
//
// Source: Groce et al., Swarm Testing, ISSTA 2012; the rates are measured
// (sim/strategy/README.md).
func (w *World) Faults() {
	f := &w.Doc.Spec.Faults
	if f.Max = Pick(w.Choices, 0, 1, 2, 0, 4, 10, 1); f.Max == 0 {
		return
	}
	if w.Chance(1, 6) { // CNI calls that crash, mostly DELs
		f.Only, f.Allowed = []string{Pick(w.Choices, "cni-del/", "cni-add/", "cni-")}, []string{sim.Crash.String()}
		f.Rates = map[string]float64{sim.Crash.String(): Pick(w.Choices, .03, .1)}
		return
	}
	rates := map[string]float64{}
	for o := sim.FailBefore; o <= sim.Crash; o++ {
		if r := Pick(w.Choices, 0, 0, .01, .03); r > 0 {
			rates[o.String()] = r
			f.Allowed = append(f.Allowed, o.String())
		}
	}
	if len(rates) == 0 {
		f.Max, f.Allowed = 0, nil
		return
	}
	f.Rates = rates
}

// answers limits the replies of failing requests, in one of three worlds, to one reply of an API server or
// etcd. With all replies, a schedule rarely has two of the same kind.
func (w *World) answers() {
	f, own := &w.Doc.Spec.Faults, w.fork(ofAnswers)
	hurts := func(name string) bool { return name == sim.FailBefore.String() || name == sim.LoseReply.String() }
	if f.Max == 0 || !slices.ContainsFunc(f.Allowed, hurts) || !own.Chance(1, 3) {
		return
	}
	one := Pick(own, way.Timeout, way.Refused, way.EtcdTimeout, way.ConnectionLost)
	for _, w := range []way.Way{one, way.IOError, way.DiskFull, way.Internal} { // disks and clouds have replies of their own
		f.Answers = append(f.Answers, w.String())
	}
}

// noSpace fills etcd's database for some time, in one of twelve worlds with faults or hazards.
func (w *World) noSpace() {
	if own := w.fork(ofSpace); w.Doc.Spec.Faults.Max+w.Doc.Spec.Hazards.Max > 0 && own.Chance(1, 12) {
		at := time.Duration(own.Between(int(w.First.Milliseconds()), int(w.Until.Milliseconds()))) * time.Millisecond
		w.At(at, scenarios.Event{Action: &action.NoSpace{For: Millis(own.Duration(time.Second, 30*time.Second))}})
	}
}

// Unanswered allows faults of writes, at one of the given rates each: the reply is an error, and the write
// is executed or not.
func (w *World) Unanswered(rates ...float64) {
	f := &w.Doc.Spec.Faults
	f.Allowed = []string{sim.LoseReply.String(), sim.FailBefore.String()}
	f.Rates = map[string]float64{sim.LoseReply.String(): Pick(w.Choices, rates...), sim.FailBefore.String(): Pick(w.Choices, rates...)}
}

// MostlyUnanswered draws Faults in one of four worlds, otherwise a few faults of Unanswered.
func (w *World) MostlyUnanswered(rates ...float64) {
	if w.Chance(1, 4) {
		w.Faults()
		return
	}
	if w.Doc.Spec.Faults.Max = Pick(w.Choices, 0, 1, 2, 0, 3); w.Doc.Spec.Faults.Max > 0 {
		w.Unanswered(rates...)
	}
}

// Shortly returns a time within the given duration after an entry of the timeline.
func (w *World) Shortly(within time.Duration) time.Duration {
	after := Pick(w.Choices, w.Doc.Spec.Timeline...)
	return after.At.Duration + time.Duration(w.Between(0, int(within.Milliseconds())))*time.Millisecond
}
