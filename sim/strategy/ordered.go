package strategy

import (
	"fmt"
	"time"

	"ipamsim/sim"
)

// Edge requires that one message goes before another, or that the other does not go at all if First
// is zero. From virtual time Until on the edge does not apply: the awaited message did not come in
// time, because this run differs.
type Edge struct {
	First, Then Message
	Until       time.Duration
}

// Ordered is the default order of Sparse among the messages that need not wait for
// others; time passes if all have to. It makes a run that keeps some of the order of
// another. A Recorder around it makes exceptions of that.
type Ordered struct {
	sparse  *Sparse
	n       int
	first   map[Message][]Edge // what a message waits for
	gone    map[Message]bool
	allowed []sim.Choice // of the enabled ones, reused
	at      []int        // where they are among these
}

// NewOrdered makes the strategy of one run. The exceptions are about messages
// themselves: how they are hurt or answered.
func NewOrdered(edges []Edge, own []Exception) *Ordered {
	o := &Ordered{sparse: NewSparse(own), n: len(edges), first: map[Message][]Edge{}, gone: map[Message]bool{}}
	for _, e := range edges {
		o.first[e.Then] = append(o.first[e.Then], e)
	}
	return o
}

func (o *Ordered) String() string { return fmt.Sprintf("ordered(%d edges)", o.n) }

// Begin allows one run.
func (o *Ordered) Begin(n uint64) bool { return n == 0 }

// Pick is what Sparse would among the messages that need not wait.
func (o *Ordered) Pick(step int, enabled []sim.Choice) int {
	if sim.Sizing(enabled) {
		return o.sparse.Pick(step, enabled)
	}
	for o.allow(enabled) == 1 && o.release(enabled) {
	}
	i := o.at[o.sparse.Pick(step, o.allowed)]
	if c := enabled[i]; c.Outcome != sim.Delay && c.Outcome != sim.Elapse {
		o.gone[MessageOf(c.Op)] = true
	}
	return i
}

// allow lists what need not wait, and says how much that is: at least that time passes.
func (o *Ordered) allow(enabled []sim.Choice) int {
	o.allowed, o.at = o.allowed[:0], o.at[:0]
	for i, c := range enabled {
		if c.Outcome == sim.Elapse || !o.waits(MessageOf(c.Op)) {
			o.allowed, o.at = append(o.allowed, c), append(o.at, i)
		}
	}
	return len(o.allowed)
}

func (o *Ordered) waits(m Message) bool {
	for _, e := range o.first[m] {
		if !o.gone[e.First] {
			return true
		}
	}
	return false
}

// release lets the message go whose time would come first if time passed now.
func (o *Ordered) release(enabled []sim.Choice) bool {
	late, next := Message{}, enabled[len(enabled)-1].Due
	for _, c := range enabled {
		if c.Outcome != sim.Proceed {
			continue
		}
		m := MessageOf(c.Op)
		for _, e := range o.first[m] {
			if !o.gone[e.First] && e.Until < next {
				late, next = m, e.Until
			}
		}
	}
	delete(o.first, late)
	return late != Message{}
}
