package strategy

import (
	"fmt"
	"strconv"
	"strings"

	"ipamsim/sim"
)

// Message names one message of a run in a way that survives the removal of other
// actors, other messages and other exceptions: by its sender.
type Message struct {
	Actor       sim.ActorID
	Incarnation int // how many processes of that name there were before
	Seq         int // 1 is the process's first message; 0 means whichever is first now
}

// MessageOf names a message by its sender.
func MessageOf(op sim.Op) Message { return Message{op.Actor, op.Incarnation, op.Seq} }

// String is "web-0#4" for the fourth message of web-0; "web-0#2.4" is the fourth message of the
// second process of that name, "web-0" any message.
func (m Message) String() string {
	switch {
	case m.Incarnation > 0:
		return fmt.Sprintf("%s#%d.%d", m.Actor, m.Incarnation+1, m.Seq)
	case m.Seq > 0:
		return fmt.Sprintf("%s#%d", m.Actor, m.Seq)
	}
	return string(m.Actor)
}

// ParseMessage is the inverse of Message.String.
func ParseMessage(text string) (Message, error) {
	actor, number, numbered := strings.Cut(text, "#")
	if actor == "" || strings.ContainsAny(actor, " \t\r\n\"") {
		return Message{}, fmt.Errorf("%q names no message, want ACTOR#N, e.g. cni-add/default/web-0/net1#4", text)
	}
	m := Message{Actor: sim.ActorID(actor)}
	if !numbered {
		return m, nil
	}
	incarnation, seq, lived := strings.Cut(number, ".")
	if !lived {
		incarnation, seq = "1", number
	}
	l, errIncarnation := strconv.Atoi(incarnation)
	n, errSeq := strconv.Atoi(seq)
	if errIncarnation != nil || errSeq != nil || l < 1 || n < 0 || n == 0 && !lived || lived && l < 2 {
		return Message{}, fmt.Errorf("%q: want ACTOR#N with N from 1, or ACTOR#INCARNATION.N with INCARNATION from 2", text)
	}
	m.Incarnation, m.Seq = l-1, n
	return m, nil
}

// Exception is one departure of a schedule from the default order of Sparse. It is one of:
//
//   - Message is held for Ladder[Level] (Outcome Delay): as soon as it is offered,
//     or when Times other things have happened since;
//   - Message is hurt (a faulty Outcome) when its turn comes, in way Level;
//   - Message, a Draw, is answered with Level (Outcome Proceed);
//   - where Before would go, Message goes first (Outcome Proceed), or time passes,
//     Times times (Outcome Elapse).
type Exception struct {
	Before  Message // zero except for the last kind
	Message Message // zero when time passes
	Outcome sim.Outcome
	Level   int
	Times   int
}

func (e Exception) String() string {
	switch {
	case e.Outcome == sim.Elapse:
		return fmt.Sprintf("before %s time passes %d times", e.Before, e.Times)
	case e.ordered():
		return fmt.Sprintf("before %s goes %s", e.Before, e.Message)
	case e.Outcome == sim.Delay && e.Times > 0:
		return fmt.Sprintf("%s is held for %v after %d moves", e.Message, sim.Ladder[e.Level], e.Times)
	case e.Outcome == sim.Delay:
		return fmt.Sprintf("%s is held for %v", e.Message, sim.Ladder[e.Level])
	case e.Outcome == sim.Proceed:
		return fmt.Sprintf("%s is answered with %d", e.Message, e.Level)
	}
	return fmt.Sprintf("%s: %s in way %d", e.Message, e.Outcome, e.Level)
}

// ordered reports whether the exception changes the order before a message.
func (e Exception) ordered() bool { return e.Before != Message{} }
