package sim

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// ActorID names one simulated operating-system process, for example
// "cni-add/web-2/net1". It is unique within a run and stable across runs of the
// same scenario.
type ActorID string

// Kind is the kind of the process, without its number: "cni-add" of "cni-add/default/web-2/net1~3",
// "ip-reconciler" of "ip-reconciler~2".
func (id ActorID) Kind() string {
	kind, _, _ := strings.Cut(string(id), "/")
	kind, _, _ = strings.Cut(kind, "~")
	return kind
}

// OpKind is the kind of a message, so that strategies can distinguish a read from a write
// without knowing the protocol.
type OpKind uint8

// The kinds of message. Event is one that a server sends to an actor (a watch
// frame); it is parked in the name of the actor that will receive it.
const (
	Read OpKind = iota
	Write
	Watch
	Event
	Local
)

var opKinds = [...]string{"read", "write", "watch", "event", "local"}

func (k OpKind) String() string { return opKinds[k] }

// Op is one message parked at the gate.
type Op struct {
	Actor       ActorID
	Incarnation int // how many processes of that name there were before, in this run
	Seq         int // 1 for the actor's first message
	Kind        OpKind
	Class       string   // latency class, a key of Options.Service ("api" when empty)
	Key         string   // description for people: "PATCH ippools/10.0.0.0-24"; defaults to Request's
	Faults      FaultSet // the faults that the sender can express for this message
	Fails       Ways     // in which ways it can FailBefore
	Loses       Ways     // in which ways a LoseReply of it is seen
	Draws       int      // number of answers of a Draw; 0 for a message whose content does not depend on the schedule

	Link   int  // the connection of its sender that carries it: see Gate.NewLink
	OnNode bool // it stays on the machine of its sender: a partition does not hold it

	Request *Request // the request as data; nil if unknown. It must not be changed

	Sent time.Duration // when it was parked, virtual time; not part of the digest
}

func (o Op) String() string { return fmt.Sprintf("%s#%d %s", o.Actor, o.Seq, o.Key) }

// About is the request of the message without its query, which may contain a revision. So it does
// not depend on the time of the message.
func (o Op) About() string {
	if o.Request == nil {
		return o.Key
	}
	plain := *o.Request
	plain.Query = ""
	return plain.String()
}

// Simultaneous orders messages that reached the gate between two decisions: by process and request. The
// order in which the goroutines of a process sent them has no meaning.
func Simultaneous(a, b Choice) int {
	return cmp.Or(cmp.Compare(a.Op.Actor, b.Op.Actor), strings.Compare(a.Op.About(), b.Op.About()))
}

// contains reports whether s is part of the message, with or without its number.
func (o Op) contains(s string) bool {
	return strings.Contains(o.String(), s) || strings.Contains(string(o.Actor)+" "+o.Key, s)
}

// Outcome is the decision of the schedule on a parked message.
type Outcome uint8

// The outcomes. All but Proceed, Delay and Elapse are faults.
//
//   - Proceed delivers the message and its reply.
//   - Delay keeps it parked for one step of Ladder; a message is delayed at most once.
//   - Elapse lets virtual time pass until a message is due or a new one is parked.
//   - FailBefore answers with an error; the server never saw the message.
//   - LoseReply delivers the message, then answers with an error.
//   - Stale serves a read from an older revision.
//   - Drop breaks a watch, Gone breaks it and forgets its history (410).
//   - Crash kills the actor; the message never arrives.
const (
	Proceed Outcome = iota
	Delay
	Elapse
	FailBefore
	LoseReply
	Stale
	Drop
	Gone
	Crash
	outcomes
)

var outcomeNames = [...]string{"proceed", "delay", "elapse", "fail-before", "lose-reply", "stale", "drop", "gone", "crash"}

func (o Outcome) String() string { return outcomeNames[o] }

// Fault reports whether the outcome hurts the message.
func (o Outcome) Fault() bool { return o >= FailBefore }

// ParseOutcome is the inverse of Outcome.String.
func ParseOutcome(s string) (Outcome, error) {
	for i, n := range outcomeNames {
		if n == s {
			return Outcome(i), nil
		}
	}
	return 0, fmt.Errorf("unknown outcome %q, want one of %v", s, outcomeNames)
}

// FaultSet is a set of faulty outcomes.
type FaultSet uint16

// Of is the set of the given outcomes.
func Of(os ...Outcome) FaultSet {
	var h FaultSet
	for _, o := range os {
		h |= 1 << o
	}
	return h
}

// Has reports whether the set holds o.
func (h FaultSet) Has(o Outcome) bool { return h&(1<<o) != 0 }

// Choice is one thing the schedule may do at a step. Level is the step of Ladder
// of a Delay, the way of a FailBefore or a LoseReply, or the answer of a Draw; 0 everywhere
// else. As long as the way is not chosen it is the first.
type Choice struct {
	Op      Op
	Outcome Outcome
	Level   int
	Due     time.Duration // when the message became deliverable, virtual time
}

// Decision is one entry of a schedule: at a step the strategy picked one of
// Enabled choices.
type Decision struct {
	Step    int
	At      time.Duration // virtual time since the start of the run
	Pick    int           // 0 ≤ Pick < Enabled
	Enabled int
	Choice  Choice
}
