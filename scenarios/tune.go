package scenarios

import (
	"os"
	"runtime"
	"runtime/debug"
)

// Tune makes the settings of a process in which runs take place, unless the user has
// made them by GOGC and GOMAXPROCS. It is for main functions: a library leaves the
// process as it is.
func Tune() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(procs)
	}
}

// gcPercent lets the heap of this process grow to five times what is live before
// a collection. A run allocates much (JSON) and keeps little: 20 % less processor
// time for some tens of MiB.
const gcPercent = 400

// procs is the number of processors of a runner's process. A bubble runs one goroutine at a time; more processors
// only wake each other without work, at half as much again of processor time and wall time. To use more of them,
// start more processes.
const procs = 1
