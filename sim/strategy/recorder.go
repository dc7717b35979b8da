package strategy

import "ipamsim/sim"

// Recorder lets another strategy decide and writes down the exceptions with which
// Sparse makes the same run: the same steps at the same times.
type Recorder struct {
	inner      sim.Strategy
	exceptions []Exception
	offered    map[Message]int // moves made when a message was first offered
	moves      int
	policy     policy
}

// NewRecorder watches a strategy.
func NewRecorder(inner sim.Strategy) *Recorder {
	return &Recorder{inner: inner, offered: map[Message]int{}}
}

func (r *Recorder) String() string { return r.inner.String() }

// Begin starts a run of the inner strategy, with nothing recorded.
func (r *Recorder) Begin(n uint64) bool {
	*r = Recorder{inner: r.inner, offered: map[Message]int{}}
	return r.inner.Begin(n)
}

// Exceptions of the run so far, in the order in which they were taken.
func (r *Recorder) Exceptions() []Exception { return r.exceptions }

// Pick is the inner strategy's.
func (r *Recorder) Pick(step int, enabled []sim.Choice) int {
	i := r.inner.Pick(step, enabled)
	i = min(max(i, 0), len(enabled)-1) // as the kernel does
	if sim.Sizing(enabled) {
		r.size(enabled[i])
		return i
	}
	r.offer(enabled)
	if c := enabled[i]; c.Outcome == sim.Delay {
		m := MessageOf(c.Op)
		r.exceptions = append(r.exceptions, Exception{Message: m, Outcome: sim.Delay, Times: r.moves - r.offered[m]})
		delete(r.offered, m) // a message is delayed at most once
		return i
	}
	r.moves++
	r.move(enabled, i)
	return i
}

// size records the size of the last choice.
func (r *Recorder) size(c sim.Choice) {
	switch {
	case c.Outcome != sim.Proceed:
		r.exceptions[len(r.exceptions)-1].Level = c.Level
	case c.Level > 0:
		r.exceptions = append(r.exceptions, Exception{Message: MessageOf(c.Op), Outcome: sim.Proceed, Level: c.Level})
	}
}

// offer notes when each message could be delayed for the first time.
func (r *Recorder) offer(enabled []sim.Choice) {
	for _, c := range enabled {
		if c.Outcome != sim.Delay {
			continue
		}
		m := MessageOf(c.Op)
		if _, seen := r.offered[m]; !seen {
			r.offered[m] = r.moves
		}
	}
}

// move records the difference between enabled[i] and the default order.
func (r *Recorder) move(enabled []sim.Choice, i int) {
	c, front := enabled[i], enabled[r.policy.front(enabled)]
	if c.Outcome == sim.Elapse {
		if front.Outcome != sim.Elapse {
			r.elapse(MessageOf(front.Op))
		}
		return
	}
	m := MessageOf(c.Op)
	if turn := MessageOf(front.Op); m != turn {
		goes := m
		first := Message{Actor: m.Actor, Incarnation: m.Incarnation}
		if enabled[deliverable(enabled, first)].Op.Seq == m.Seq {
			goes = first
		}
		r.exceptions = append(r.exceptions, Exception{Before: turn, Message: goes, Outcome: sim.Proceed})
	}
	if c.Outcome.Fault() {
		r.exceptions = append(r.exceptions, Exception{Message: m, Outcome: c.Outcome, Level: c.Level})
	}
	r.policy.moved(c.Op)
}

// elapse records that time passes before a message, once more.
func (r *Recorder) elapse(turn Message) {
	if n := len(r.exceptions); n > 0 {
		if last := &r.exceptions[n-1]; last.Outcome == sim.Elapse && last.Before == turn {
			last.Times++
			return
		}
	}
	r.exceptions = append(r.exceptions, Exception{Before: turn, Outcome: sim.Elapse, Times: 1})
}
