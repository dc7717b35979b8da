package sim

import (
	"context"
	"slices"
)

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

type callerKey struct{}

// Calling has the messages that are sent under ctx know who is calling now, besides who
// sends them: a process that calls a server within itself has its request served by other
// goroutines than its own.
func Calling(ctx context.Context) context.Context {
	var pcs [stackMax]uintptr
	return context.WithValue(ctx, callerKey{}, slices.Clone(pcs[:callers(&pcs[0], len(pcs))]))
}

// called adds to the functions of a goroutine those that called it, as Calling says.
func called(ctx context.Context, pcs []uintptr, depth int) int {
	caller, _ := ctx.Value(callerKey{}).([]uintptr)
	return depth + copy(pcs[depth:], caller)
}
