package reports

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"ipamsim/model"
)

// event weighs one entry of the history; holders are the containers that were
// given the address and live, with their pods.
func (s *subject) event(ev model.Event, holders map[string]string) *entry {
	pod := ev.Pod.String()
	ours := slices.Contains(s.pods, pod) && s.ours(ev.Network)
	e := &entry{step: ev.Step, at: ev.At, actor: ev.Actor, lane: pod, mark: '*', fact: true}
	before := ev.Step < s.from
	switch ev.Kind {
	case model.AddEnd:
		s.added(e, ev, ours && !before, holders)
	case model.DelEnd:
		if ours && !before {
			if e.weight = scenery; ev.Err != "" {
				e.mark, e.weight = 'x', cause
			}
			e.text = said(ev)
		}
	case model.SandboxUp:
		if ours && !before {
			e.weight, e.text = attempt+1, said(ev)
		}
	case model.SandboxDown:
		delete(holders, ev.Container)
		if ours && !before {
			e.weight, e.turn, e.text = glimpse, "gone", said(ev)
		}
	case model.Reconcile, model.Reconciled:
		e.lane, e.fact, e.weight, e.text = ev.Actor, false, -scenery, said(ev)
		if ev.Err != "" {
			e.mark = 'x'
		}
	default:
		s.outside(e, ev, ours)
	}
	e.text = Clean(e.text)
	return e
}

// request is how client-go begins the error of a request: the longest part of
// most errors, and never the reason.
var request = regexp.MustCompile(`(Get|Put|Post|Patch|Delete) "[^"]*": `)

// reason is an error on one line, without the URLs.
func reason(err string) string { return request.ReplaceAllString(firstLine(err), "") }

func (s *subject) added(e *entry, ev model.Event, ours bool, holders map[string]string) {
	pod := ev.Pod.String()
	out := s.holds(ev) && s.ours(ev.Network)
	switch {
	case !ours:
	case ev.Err != "":
		e.mark, e.weight, e.turn, e.text = 'x', cause, "failed", said(ev)
	case out:
		e.weight, e.turn = fate+1, "out"
		delete(holders, ev.Container)
		again := ""
		if len(holders) > 0 {
			again = " AGAIN, still held by " + strings.Join(sorted(slices.Collect(maps.Values(holders))), " and ") + ","
		}
		e.text = fmt.Sprintf("%s is handed out%s to %s on %s (%s)", list(ev.Addrs), again, pod, ev.Node, ev.Interface)
	default:
		e.weight, e.text = scenery, fmt.Sprintf("ADD returns %s for %s", list(ev.Addrs), pod)
	}
	if out && ev.Err == "" {
		holders[ev.Container] = pod
	}
}

// outside is what is done to the cluster: by people, to machines, to processes.
// It counts even before the story begins, which may be its consequence.
func (s *subject) outside(e *entry, ev model.Event, ours bool) {
	e.lane, e.actor = laneless, "" // the text says who
	switch ev.Kind {
	case model.Operator:
		e.weight, e.turn, e.text = cause-5, "operator", said(ev)
		if ev.Err != "" {
			e.mark = 'x'
		}
		if s.typed[ev.Actor] && !s.wrote[ev.Actor] && ev.Err == "" {
			e.weight, e.turn = unshown, "" // who only looks changes nothing
		}
	case model.FaultEvent:
		if strings.HasPrefix(ev.Actor, "hazard/") { // else a message was hurt, which the trace shows
			e.mark, e.weight, e.turn, e.text = 'x', cause-5, "hazard", said(ev)
		}
	case model.NodeEvent:
		e.weight, e.text = scenery-10, said(ev)
		if slices.Contains(s.named[model.RefNode], ev.Node) || ours {
			e.weight = attempt
		}
		if ev.Step == 0 {
			e.weight = unshown // every node comes up once
		}
	case model.ActorPanic:
		e.weight, e.actor, e.mark, e.fact = cause, ev.Actor, 'x', false
		e.text = said(ev)
		if slices.Contains(s.named[model.RefActor], ev.Actor) {
			e.weight = fate
		}
	}
}

func list[T fmt.Stringer](items []T) string {
	s := make([]string, len(items))
	for i, x := range items {
		s[i] = x.String()
	}
	return strings.Join(s, " ")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
