package observe

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"

	"ipamsim/scenarios/dump"
)

// happening is what both forms of an Event say.
type happening struct {
	kind, namespace, name, uid string
	reason                     string
	first, last                time.Time
}

func (f *file) coreEvent(from dump.Origin, e *corev1.Event) error {
	o := e.InvolvedObject
	h := happening{o.Kind, o.Namespace, o.Name, string(o.UID), e.Reason, e.FirstTimestamp.UTC(), e.LastTimestamp.UTC()}
	if e.FirstTimestamp.IsZero() {
		h.first = e.EventTime.UTC()
	}
	if e.LastTimestamp.IsZero() {
		h.last = h.first
	}
	if e.Series != nil {
		h.last = later(h.last, e.Series.LastObservedTime.UTC())
	}
	return f.happened(from, &h)
}

func (f *file) newEvent(from dump.Origin, e *eventsv1.Event) error {
	o := e.Regarding
	h := happening{o.Kind, o.Namespace, o.Name, string(o.UID), e.Reason, e.EventTime.UTC(), e.EventTime.UTC()}
	if e.EventTime.IsZero() {
		h.first, h.last = e.DeprecatedFirstTimestamp.UTC(), e.DeprecatedLastTimestamp.UTC()
	}
	if e.Series != nil {
		h.last = later(h.last, e.Series.LastObservedTime.UTC())
	}
	return f.happened(from, &h)
}

// happened reads an event. A repeated event has only its first and its last time.
//
// Source: k8s.io/kubernetes/pkg/kubelet/events, and the reasons of the scheduler and of
// node-lifecycle (v1.37.2).
func (f *file) happened(from dump.Origin, h *happening) error {
	for _, at := range []time.Time{h.first, h.last} {
		if err := credible(from, "Event "+h.reason, "firstTimestamp", at); err != nil {
			return err
		}
		f.log = f.log.join(Window{at, at})
	}
	f.event = true
	switch h.kind {
	case "Pod":
		if h.reason == "Scheduled" {
			s := statement{at: h.first, uid: h.uid, namespace: h.namespace, name: h.name, from: from}
			return f.c.says(s)
		}
	case "Node":
		n, err := f.c.node(from, h.name)
		if err != nil {
			return err
		}
		for _, at := range []time.Time{h.first, h.last} {
			f.noded(n, h.reason, at)
			if h.first.Equal(h.last) {
				break
			}
		}
	}
	return nil
}

// noded is what an event says of its node.
func (f *file) noded(n *nodeRecord, reason string, at time.Time) {
	switch reason {
	case "NodeNotSchedulable":
		n.cordons = append(n.cordons, change{at, true, false})
	case "NodeSchedulable":
		n.cordons = append(n.cordons, change{at, false, false})
	case "NodeNotReady":
		n.silences = append(n.silences, change{at, true, false})
	case "NodeReady":
		n.silences = append(n.silences, change{at, false, false})
	case "Rebooted": // is reported when it is over
		n.silences = append(n.silences, change{at.Add(-time.Second), true, false}, change{at, false, false})
	case "RegisteredNode": // also whenever the controller restarts
		seen(&n.first, &n.last, at)
	case "RemovingNode", "DeletingNode":
		n.died = later(n.died, at)
		return
	}
	seen(&n.first, &n.last, at)
}
