// Package hermetic reaches the Go runtime that cmd/hermetic generates, in which
// a synctest bubble is a function of a seed: who runs next, the order of map
// iteration, select, timers that are due together, math/rand and crypto/rand
// repeat with the seed and vary with it. And a goroutine, with all that it starts,
// can be a process of its own, with its own wall clock and its own death by a panic
// (SetProcess).
//
// With the build tag hermetic and the overlay, Enabled is true. Without, every
// function does nothing and the same seed may run differently.
//
// Maps and sync.Maps whose keys hold an address (pointers, channels, interfaces,
// netip.Addr) iterate in the order in which the keys came. Waiting for a mutex is a
// durable block: virtual time passes until its holder, parked as well, unlocks it.
// Local time is UTC.
//
// What stays outside: a mutex that is held outside the bubble, unless one waits for it
// pinned; finalizers, cleanups and weak pointers, which follow the collector; values of
// addresses, printed, sorted or hashed by the program itself; and a goroutine that waits
// in the bubble for file or network I/O keeps the turn, so that the other end of a pipe
// or socket must not be in the same bubble.
package hermetic
