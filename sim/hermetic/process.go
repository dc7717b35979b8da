package hermetic

import "time"

// Process is the shared state of the goroutines of one simulated process; see SetProcess. Its
// layout equals that of runtime.simProcess, up to Built.
type Process struct {
	// Ahead is the offset of the process's wall clock from the bubble's; it may change at any time;
	// nil: 0.
	//
	// Only time.Now has the offset, and its result has a monotonic reading, as outside a bubble:
	// sleeping, timers and time.Since use the bubble's clock, whatever jumps the wall clock makes.
	Ahead *time.Duration

	// Crash is called with the value of an unrecovered panic that would end the operating system's
	// process, after the deferred functions of the goroutine have run. It is called on that
	// goroutine, so debug.Stack shows the place of the panic; the goroutine exits when Crash
	// returns. A panic of Crash itself, and other fatal errors of Go (concurrent writes to a map, a
	// stack overflow), still end the operating system's process. So does the panic if Crash is nil.
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
