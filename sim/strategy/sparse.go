package strategy

import (
	"fmt"
	"slices"

	"ipamsim/sim"
)

// Sparse is a default order with exceptions. The default is the simplest history: stay with the
// actor that moved last as long as it has a deliverable message, otherwise deliver the message that
// has been due the longest, otherwise let time pass; nothing is delayed, there are no faults, and
// every Draw is answered with 0.
//
// Exceptions name messages and not positions. So one can be dropped, or a pod removed, and the
// others keep their meaning (README.md: 0 of 53 shrunk findings lost their replay, with ordered
// lists 4 of 78). Recorder converts any run to this form.
type Sparse struct {
	// Rest decides from where every exception has been followed; nil: the default
	// order does.
	Rest sim.Strategy

	exceptions []Exception
	used       []int // how often each was followed
	unused     int   // how many were not, yet

	own     map[Message][]int // exceptions about a message itself
	before  map[Message][]int // the messages before a message, in order
	offered map[Message]int   // moves made when a message that is delayed later was first offered
	moves   int
	policy  policy
	level   int // the answer when sim.Sizing asks
}

// NewSparse makes the strategy of one run. Of two exceptions that say the same of
// one message, the first counts.
func NewSparse(exceptions []Exception) *Sparse {
	s := &Sparse{
		exceptions: exceptions, used: make([]int, len(exceptions)), unused: len(exceptions),
		own: map[Message][]int{}, before: map[Message][]int{}, offered: map[Message]int{},
	}
	for i, e := range exceptions {
		if e.ordered() {
			s.before[e.Before] = append(s.before[e.Before], i)
		} else {
			s.own[e.Message] = append(s.own[e.Message], i)
		}
	}
	return s
}

func (s *Sparse) String() string { return fmt.Sprintf("sparse(%d exceptions)", len(s.exceptions)) }

// Begin allows one run.
func (s *Sparse) Begin(n uint64) bool { return n == 0 }

// Unused lists, in order, the exceptions that the run did not follow: their
// message never came, or could not be treated so. They may be dropped.
func (s *Sparse) Unused() []int {
	var out []int
	for i, n := range s.used {
		if n == 0 {
			out = append(out, i)
		}
	}
	return out
}

// Err is nil if every exception was followed.
func (s *Sparse) Err() error {
	if u := s.Unused(); len(u) > 0 {
		return fmt.Errorf("%w: %d of %d decisions found no use, the first: %s", ErrDiverged, len(u), len(s.exceptions), s.exceptions[u[0]])
	}
	return nil
}

// Pick follows the exceptions, else the default.
func (s *Sparse) Pick(step int, enabled []sim.Choice) int {
	if sim.Sizing(enabled) {
		if s.level < 0 {
			return s.Rest.Pick(step, enabled)
		}
		return level(enabled, s.level)
	}
	if s.Rest != nil && s.unused == 0 {
		s.level = -1
		return s.Rest.Pick(step, enabled)
	}
	if i, ok := s.delay(enabled); ok {
		return i
	}
	s.moves++
	i := s.next(enabled)
	if enabled[i].Outcome == sim.Elapse {
		return i
	}
	s.policy.moved(enabled[i].Op)
	return s.treat(enabled, i)
}

// delay finds a message that is to be held now.
func (s *Sparse) delay(enabled []sim.Choice) (int, bool) {
	if len(s.own) == 0 {
		return 0, false
	}
	for i, c := range enabled {
		if c.Outcome != sim.Delay {
			continue
		}
		m := MessageOf(c.Op)
		for _, x := range s.own[m] {
			e := s.exceptions[x]
			if e.Outcome != sim.Delay {
				continue
			}
			if _, seen := s.offered[m]; !seen {
				s.offered[m] = s.moves
			}
			if s.moves-s.offered[m] >= e.Times {
				s.use(x)
				s.level = e.Level
				return i, true
			}
		}
	}
	return 0, false
}

// next is the Proceed or Elapse to take: that of the first applicable exception for the message
// whose turn it is, or the message's own.
func (s *Sparse) next(enabled []sim.Choice) int {
	front := s.policy.front(enabled)
	if enabled[front].Outcome == sim.Elapse {
		return front
	}
	turn := MessageOf(enabled[front].Op)
	for queue := s.before[turn]; len(queue) > 0; queue = s.before[turn] {
		x := queue[0]
		e := s.exceptions[x]
		if e.Outcome == sim.Elapse {
			s.use(x)
			if s.used[x] >= e.Times {
				s.before[turn] = queue[1:]
			}
			return len(enabled) - 1
		}
		s.before[turn] = queue[1:]
		if i := deliverable(enabled, e.Message); i >= 0 {
			s.use(x)
			return i
		}
	}
	return front
}

// treat applies the exception for the message whose Proceed is enabled[i]: a fault, or the size of
// its answer.
func (s *Sparse) treat(enabled []sim.Choice, i int) int {
	s.level = 0
	op := enabled[i].Op
	for _, x := range s.own[MessageOf(op)] {
		e := s.exceptions[x]
		if e.Outcome == sim.Delay {
			continue
		}
		if e.Outcome == sim.Proceed {
			if e.Level < op.Draws {
				s.use(x)
				s.level = e.Level
			}
			return i
		}
		for j := i + 1; j < len(enabled) && MessageOf(enabled[j].Op) == MessageOf(op); j++ {
			if enabled[j].Outcome == e.Outcome {
				s.use(x)
				s.level = e.Level
				return j
			}
		}
	}
	return i
}

func (s *Sparse) use(x int) {
	if s.used[x]++; s.used[x] == 1 {
		s.unused--
	}
}

// level is the index of the choice with a size, or 0 if there is none.
func level(enabled []sim.Choice, size int) int {
	return max(0, slices.IndexFunc(enabled, func(c sim.Choice) bool { return c.Level == size }))
}

// deliverable is the place of a message's Proceed, or -1.
func deliverable(enabled []sim.Choice, m Message) int {
	for i, c := range enabled {
		if c.Outcome == sim.Proceed && c.Op.Actor == m.Actor && (m.Seq == 0 || c.Op.Seq == m.Seq) && c.Op.Incarnation == m.Incarnation {
			return i
		}
	}
	return -1
}

// policy is the default order of Sparse.
type policy struct{ last Message }

// moved records whose turn it was.
func (p *policy) moved(op sim.Op) { p.last = Message{Actor: op.Actor, Incarnation: op.Incarnation} }

// front is the place of the Proceed that comes next, of Elapse if nothing can be
// delivered.
func (p *policy) front(enabled []sim.Choice) int {
	best := len(enabled) - 1
	for i, c := range enabled[:best] {
		switch {
		case c.Outcome != sim.Proceed:
		case c.Op.Actor == p.last.Actor && c.Op.Incarnation == p.last.Incarnation:
			return i
		case enabled[best].Outcome == sim.Elapse || c.Due < enabled[best].Due:
			best = i
		}
	}
	return best
}
