package model

import (
	"net/netip"
	"time"
)

// EventKind says what happened.
type EventKind string

// What the history records. An error of upstream is data (Event.Err), never a
// failure of the harness.
const (
	AddBegin    EventKind = "add-begin"
	AddEnd      EventKind = "add-end"
	DelBegin    EventKind = "del-begin"
	DelEnd      EventKind = "del-end"
	SandboxUp   EventKind = "sandbox-up"
	SandboxDown EventKind = "sandbox-down"
	Reconcile   EventKind = "reconcile-begin"
	Reconciled  EventKind = "reconcile-end"
	NodeEvent   EventKind = "node"
	Operator    EventKind = "operator"
	ActorPanic  EventKind = "actor-panic"
	FaultEvent  EventKind = "fault"
)

// Event is one entry of the history.
type Event struct {
	Step      int // of the schedule, 0 before the first
	At        time.Duration
	Kind      EventKind
	Actor     string
	Node      string
	Pod       PodRef
	Container string
	Network   string // key of the NetworkAttachmentDefinition
	Interface string
	Addrs     []netip.Addr
	Err       string // what upstream said; "" on success
	Exhausted bool   // AddEnd: upstream said that no address is left
	MinFree   int    // AddEnd: the least number of addresses policy left free at any time during the ADD
	Text      string // for people
}

// History is what happened, in order.
type History struct{ Events []Event }

// Add appends an event.
func (h *History) Add(e Event) { h.Events = append(h.Events, e) }
