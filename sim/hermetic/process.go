package hermetic

import "time"

// Process is what the goroutines of one simulated process have in common; see
// SetProcess. Its layout is that of runtime.simProcess, up to Built.
type Process struct {
	// Ahead is by how much the process's wall clock is ahead of the bubble's, from
	// this moment to the next; nil: not at all.
	//
	// Only time.Now is ahead, and what is read from it has a monotonic part, as
	// outside a bubble: sleeping, timers and time.Since go by the bubble's clock,
	// however the wall clock jumps.
	Ahead *time.Duration

	// Crash is called where a panic that nothing recovered would end the operating
	// system's process, with its value, once the deferred functions of the goroutine
	// have run. It is called on that goroutine, so that debug.Stack shows where the
	// panic was; the goroutine exits when Crash returns. Its own panic, and whatever
	// else is fatal in Go (concurrent writes to a map, a stack overflow), still ends
	// the operating system's process. So does the panic if Crash is nil.
	Crash func(value any)

	// Dead says that the process has ended: its goroutines that are still blocked when
	// the bubble ends are ended there, without running their deferred functions, as the
	// system does with those of a process. Other goroutines that are left are a panic
	// of synctest.
	Dead bool

	// Crashed is set if the process will not unlock its mutexes: it has panicked, or its main
	// function has returned. If a goroutine waits for a mutex when the bubble ends, and
	// Crashed is not set, it keeps waiting: a goroutine outside may hold the mutex, or there
	// is a deadlock to report.
	Crashed bool

	// Built says what the process's program was built with, for code that more than one
	// process shares. The runtime does not know it.
	Built string
}

// Current is the process that the calling goroutine belongs to, or nil: on the stock
// runtime goroutines belong to none.
func Current() *Process {
	p := SetProcess(nil)
	SetProcess(p)
	return p
}
