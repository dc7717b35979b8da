// Package hermetic gives access to the Go runtime that cmd/hermetic generates, in which a synctest
// bubble is a function of a seed: the order of goroutines, of map iteration, select, timers that
// are due at the same time, math/rand and crypto/rand repeat with the seed and vary with it. In
// addition, a goroutine, with all goroutines that it starts, can be a separate process with its own
// wall clock and its own crash by a panic (SetProcess).
//
// With the build tag hermetic and the overlay, Enabled is true. Without, every function does
// nothing and the same seed may run differently.
//
// Maps and sync.Maps whose keys contain an address (pointers, channels, interfaces, netip.Addr)
// iterate in the order in which the keys were added. Waiting for a mutex is a durable block:
// virtual time passes until its holder, parked as well, unlocks it. Local time is UTC.
//
// Not deterministic are: a mutex that is held outside the bubble, unless a pinned goroutine waits
// for it; finalizers, cleanups and weak pointers, which follow the collector; and values of
// addresses that the program itself prints, sorts or hashes. A goroutine in the bubble that waits
// for file or network I/O keeps its turn, so the other end of a pipe or socket must not be in the
// same bubble.
package hermetic
