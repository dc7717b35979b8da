package sim

import "slices"

// Stack is the functions that a goroutine was in when it sent a message, innermost
// first, as program counters of this process, which runtime.CallersFrames reads: what
// they mean is asked of the few messages that somebody is shown. The first ones are the
// gate's own. It is shared by all messages that were sent from there; nil for what
// nobody's code sends: an event that a server owes, a draw. It is part of neither the
// schedule nor the digest.
type Stack []uintptr

// stackMax is more than the 40 functions that upstream's deepest call has on its stack.
const stackMax = 96

// stacks are those that a run has seen, by their sum. A run sends thousands of
// messages from a few dozen places.
type stacks map[uint64]Stack

// of is the one copy of a stack. What it is given stays with the caller, on its own stack.
func (t stacks) of(pcs []uintptr) Stack {
	if len(pcs) == 0 {
		return nil
	}
	sum := uint64(len(pcs))
	for _, pc := range pcs {
		sum = (sum ^ uint64(pc)) * 0x9e3779b97f4a7c15
		sum ^= sum >> 29
	}
	for ; ; sum++ {
		switch known, ok := t[sum]; {
		case !ok:
			fresh := append(Stack(nil), pcs...)
			t[sum] = fresh
			return fresh
		case slices.Equal(known, pcs):
			return known
		}
	}
}
