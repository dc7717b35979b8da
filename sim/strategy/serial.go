package strategy

import "ipamsim/sim"

// Serial stays with the actor that moved last as long as it can, else takes the
// first message in order: the plain sequential history, without faults. It is
// what an author believes will happen.
type Serial struct{ last sim.ActorID }

// NewSerial makes the sequential order.
func NewSerial() *Serial { return &Serial{} }

func (s *Serial) String() string { return "serial()" }

// Begin allows one run.
func (s *Serial) Begin(n uint64) bool { return n == 0 }

// Pick prefers the actor that moved last.
func (s *Serial) Pick(_ int, enabled []sim.Choice) int {
	if sim.Sizing(enabled) {
		return 0
	}
	first := len(enabled) - 1 // Elapse, when no message can go
	for i := len(enabled) - 1; i >= 0; i-- {
		if c := enabled[i]; c.Outcome == sim.Proceed {
			if c.Op.Actor == s.last {
				return i
			}
			first = i
		}
	}
	if enabled[first].Outcome == sim.Proceed {
		s.last = enabled[first].Op.Actor
	}
	return first
}
