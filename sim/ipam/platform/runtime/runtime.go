// Package runtime is what a program may know of the machine that it is built for.
package runtime

// GOOS is what simulated hosts run.
const GOOS = "linux"

// LockOSThread has nothing to do: no simulated program enters a network namespace.
func LockOSThread() {}
