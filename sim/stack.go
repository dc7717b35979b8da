package sim

import (
	"context"
	"slices"
)

// Stack is the call stack of a goroutine when it sent a message, innermost first, as program
// counters for runtime.CallersFrames: only the few messages that are shown are resolved. The first
// frames are the gate's own. All messages sent from the same place share one Stack. It is nil for
// messages that no process sends: an event of a server, a draw. It is part of neither the schedule
// nor the digest.
type Stack []uintptr

// stackMax is more than the 40 functions that upstream's deepest call has on its stack.
const stackMax = 96

// stacks are the stacks of a run, by their checksum. A run sends thousands of messages from a few
// dozen places.
type stacks map[uint64]Stack

// of returns the shared copy of a stack. It does not keep pcs, which so stays on the caller's
// stack.
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

// Calling records the caller's stack for messages that are sent under ctx, in addition to
// their sender's. In a process that calls a server within itself, other goroutines than the
// caller's serve the request.
func Calling(ctx context.Context) context.Context {
	var pcs [stackMax]uintptr
	return context.WithValue(ctx, callerKey{}, slices.Clone(pcs[:callers(&pcs[0], len(pcs))]))
}

// called appends the frames of the caller that Calling has stored.
func called(ctx context.Context, pcs []uintptr, depth int) int {
	caller, _ := ctx.Value(callerKey{}).([]uintptr)
	return depth + copy(pcs[depth:], caller)
}
