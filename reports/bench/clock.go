package bench

import (
	"syscall"
	"time"
)

// Wall asks the system what time it is: time.Now is virtual in a bubble.
func Wall() time.Duration {
	var tv syscall.Timeval
	if err := syscall.Gettimeofday(&tv); err != nil {
		panic(err)
	}
	return time.Duration(tv.Nano())
}

// CPU is the processor time of this process so far, etcd and garbage collection
// included: a neighbour's load is no part of it.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
