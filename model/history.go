package model

import (
	"cmp"
	"net/netip"
	"strings"
	"time"
)

// EventKind is the kind of an event.
type EventKind string

// The kinds of events. An error of upstream is data (Event.Err), never a failure of the harness.
const (
	AddBegin       EventKind = "add-begin"
	AddEnd         EventKind = "add-end"
	DelBegin       EventKind = "del-begin"
	DelEnd         EventKind = "del-end"
	SandboxUp      EventKind = "sandbox-up"
	SandboxDown    EventKind = "sandbox-down"
	SandboxRemoved EventKind = "sandbox-removed" // the runtime has forgotten it
	Reconcile      EventKind = "reconcile-begin"
	Reconciled     EventKind = "reconcile-end"
	Exited         EventKind = "exit" // of a daemon of the manager's
	NodeEvent      EventKind = "node"
	Operator       EventKind = "operator"
	ActorPanic     EventKind = "actor-panic"
	FaultEvent     EventKind = "fault"
	Output         EventKind = "output"
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
	Err       string // upstream's error; "" on success
	Exhausted bool   // AddEnd: upstream reported that no address is left
	Asked     bool   // AddEnd: upstream refused a pod that had asked for certain addresses
	// Pools, of AddEnd with Err, are the pools that the pod had asked for, by name or prefix.
	Pools []string
	// MinFree, of AddEnd, is the least number of addresses that policy left free at any time
	// during the ADD, of Pools if there are any.
	MinFree int
	// Begun, of AddEnd and DelEnd, is when the call began.
	Begun time.Duration
	// Disturbed, of AddEnd and DelEnd: a fault affected the call, its machine was not
	// healthy, or messages took so long that the call may have exceeded its deadline. The
	// manager alone is then not responsible for the result. Of Exited: the process was
	// killed, was asked to end, or gave no reason.
	Disturbed bool
	// TimedOut, of AddEnd and DelEnd: the container runtime has ended the call, which took
	// too long.
	TimedOut bool
	// Site, of AddEnd and DelEnd with Err, is upstream's line that sent the call's last
	// message.
	Site CallSite
	// Idle, of Operator with Err: the action was without effect, and the scenario does not
	// allow that.
	Idle bool
	// Over, of Operator: the fault that the action was has ended.
	Over bool
	// Action is what an Operator or a FaultEvent did.
	Action ActionRef
	Text   string // for people
	Output string // Output: what a command printed, in lines
}

// History is the list of events, in order.
//
// It keeps an index of its events, because the oracles read it after every step and a run has
// thousands of events. Reading updates the index, so only one goroutine at a time may use a
// History. Events may only grow at its end.
type History struct {
	Events []Event

	indexed int                      // Events[:indexed] are in the index
	last    map[string]time.Duration // container id → its last event
	made    map[string]made          // container id → data from its first event
	panics  []int                    // positions of ActorPanic
	refused []int                    // positions of AddEnd with Exhausted
	added   map[PodRef]ends
	deleted map[PodRef]ends
}

// made is the pod and the node for which a container was created.
type made struct {
	pod  PodRef
	node string
}

// ends are how a pod's ADDs, or its DELs, have ended.
type ends struct {
	last   int // position of the last one
	failed int // how many have failed since one did not
}

// Add appends an event.
func (h *History) Add(e Event) {
	h.Events = append(h.Events, e)
	h.index()
}

// LastOf is when the last CNI call or change of state of a container was
// recorded; ok is false if the history never saw the container.
//
// The beginning of an ADD counts: a process killed inside its ADD leaves a claim
// behind without ever reaching its end.
func (h *History) LastOf(container string) (at time.Duration, ok bool) {
	h.index()
	at, ok = h.last[container]
	return at, ok
}

// PodOf is the pod for which a container was created, the zero value if unknown.
func (h *History) PodOf(container string) PodRef { h.index(); return h.made[container].pod }

// NodeOf is the node on which a container was created, "" if unknown.
func (h *History) NodeOf(container string) string { h.index(); return h.made[container].node }

// Daemon is the name of the event's actor without its number.
func (e *Event) Daemon() string {
	name, _, _ := strings.Cut(e.Actor, "~")
	return name
}

// Panics are the positions in Events of every ActorPanic, in order.
func (h *History) Panics() []int { h.index(); return h.panics }

// Refusals are the positions in Events of every ADD that ended because upstream
// saw no address left, in order.
func (h *History) Refusals() []int { h.index(); return h.refused }

// Added is the end of a pod's last ADD, nil if none has ended, and the number of failures since the
// last success. The ADD of one interface does not cancel the refusal of another: after the first
// interface of the next sandbox the last ADD is still the failed one.
func (h *History) Added(p PodRef) (end *Event, failed int) {
	h.index()
	return h.endOf(h.added, p)
}

// Deleted is Added for DELs.
func (h *History) Deleted(p PodRef) (end *Event, failed int) {
	h.index()
	return h.endOf(h.deleted, p)
}

func (h *History) endOf(of map[PodRef]ends, p PodRef) (*Event, int) {
	e, ok := of[p]
	if !ok {
		return nil, 0
	}
	return &h.Events[e.last], e.failed
}

// ended notes the end of one of a pod's calls.
func (h *History) ended(of map[PodRef]ends, e *Event) {
	was := of[e.Pod]
	switch {
	case e.Err != "":
		of[e.Pod] = ends{h.indexed, was.failed + 1}
	case was.failed == 0 || h.Events[was.last].Interface == e.Interface:
		of[e.Pod] = ends{h.indexed, 0}
	}
}

func (h *History) index() {
	if h.last == nil {
		h.last, h.made = map[string]time.Duration{}, map[string]made{}
		h.added, h.deleted = map[PodRef]ends{}, map[PodRef]ends{}
	}
	for ; h.indexed < len(h.Events); h.indexed++ {
		e := &h.Events[h.indexed]
		if e.Container != "" {
			m := h.made[e.Container]
			if m.pod == (PodRef{}) {
				m.pod = e.Pod
			}
			h.made[e.Container] = made{m.pod, cmp.Or(m.node, e.Node)}
		}
		switch e.Kind {
		case ActorPanic:
			h.panics = append(h.panics, h.indexed)
		case AddBegin, AddEnd, DelBegin, DelEnd, SandboxUp, SandboxDown:
			if e.Container != "" {
				h.last[e.Container] = e.At
			}
			if e.Kind == AddEnd && e.Exhausted {
				h.refused = append(h.refused, h.indexed)
			}
			switch e.Kind {
			case AddEnd:
				h.ended(h.added, e)
			case DelEnd:
				h.ended(h.deleted, e)
			}
		}
	}
}
