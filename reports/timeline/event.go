package timeline

import (
	"slices"

	"ipamsim/model"
	"ipamsim/reports/prose"
	"ipamsim/sim"
)

// event returns the entry of one event of the history. holders maps the live containers
// that hold the address to their ADD.
func (s *subject) event(ev *model.Event, holders map[string]*model.Event) *entry {
	pod := ev.Pod.String()
	ours := slices.Contains(s.pods, pod) && s.ours(ev.Network)
	e := &entry{step: ev.Step, at: ev.At, actor: ev.Actor, lane: pod, mark: '*', fact: true, sentence: func() string { return Said(ev) }}
	before := ev.Step < s.from
	switch ev.Kind {
	case model.AddEnd:
		s.added(e, ev, ours && !before, holders)
	case model.DelEnd:
		if ours && !before {
			if e.weight = scenery; ev.Err != "" {
				e.mark, e.weight = 'x', cause
			}
		}
	case model.SandboxUp:
		if ours && !before {
			e.weight = attempt + 1
		}
	case model.SandboxDown:
		delete(holders, ev.Container)
		if ours && !before {
			e.weight, e.turn = glimpse, "gone"
		}
	case model.SandboxRemoved:
	case model.Reconcile, model.Reconciled, model.Exited:
		e.lane, e.fact, e.weight = ev.Actor, false, -scenery
		if ev.Err != "" {
			e.mark = 'x'
		}
		if ev.Kind == model.Exited && ev.Err != "" && !ev.Disturbed { // not by a fault: its work is missing from then on
			e.weight, e.turn = glimpse, "exited"
		}
	default:
		s.outside(e, ev, ours)
	}
	return e
}

func (s *subject) added(e *entry, ev *model.Event, ours bool, holders map[string]*model.Event) {
	out := s.holds(ev) && s.ours(ev.Network)
	switch {
	case !ours:
	case ev.Err != "":
		e.mark, e.weight, e.turn = 'x', cause, "failed"
	case out:
		e.weight, e.turn = fate+1, "out"
		delete(holders, ev.Container)
		still := s.still(ev, holders)
		e.sentence = func() string { return spoken(prose.HandedOut(ev, still)) }
	default:
		e.weight = scenery
		e.sentence = func() string { return spoken(prose.Returned(ev)) }
	}
	if out && ev.Err == "" {
		holders[ev.Container] = ev
	}
}

// still lists the pods that already hold the address of an ADD on the same network, sorted.
func (s *subject) still(ev *model.Event, holders map[string]*model.Event) (pods []string) {
	for _, h := range holders {
		if !s.local[ev.Network] || h.Node == ev.Node {
			pods = append(pods, h.Pod.String())
		}
	}
	slices.Sort(pods)
	return slices.Compact(pods)
}

// outside sets the weight of an action on the cluster by operators, machines or hazards. It
// counts even before the timeline begins, because it may be the cause.
func (s *subject) outside(e *entry, ev *model.Event, ours bool) {
	e.lane, e.actor = laneless, "" // the text names the subject
	switch ev.Kind {
	case model.Operator:
		e.weight, e.turn = cause-5, "operator"
		if ev.Err != "" {
			e.mark = 'x'
		}
		if s.typed[ev.Actor] && !s.wrote[ev.Actor] && ev.Err == "" {
			e.weight, e.turn = unshown, "" // an operator that only reads changes nothing
		}
	case model.FaultEvent:
		if sim.ActorID(ev.Actor).Kind() == "hazard" { // otherwise a fault of a message, which the trace contains
			e.mark, e.weight, e.turn = 'x', cause-5, "hazard"
		}
	case model.NodeEvent:
		e.weight = scenery - 10
		if slices.Contains(s.named[model.RefNode], ev.Node) || ours {
			e.weight = attempt
		}
		if ev.Step == 0 {
			e.weight = unshown // every node starts once
		}
	case model.ActorPanic:
		e.weight, e.actor, e.mark, e.fact, e.stack = cause, ev.Actor, 'x', false, ev.Text
		if slices.Contains(s.named[model.RefActor], ev.Actor) {
			e.weight = fate
		}
	}
}
