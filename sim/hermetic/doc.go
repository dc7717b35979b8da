// Package hermetic reaches the Go runtime that cmd/hermetic generates, in which
// a synctest bubble is a function of a seed: who runs next, the order of map
// iteration, select, timers that are due together, math/rand and crypto/rand
// repeat with the seed and vary with it. And a goroutine, with all that it starts,
// can have a wall clock of its own (SetClock).
//
// With the build tag hermetic and the overlay, Enabled is true. Without, every
// function does nothing and the same seed may run differently.
//
// Three things stay outside: maps and sync.Maps whose keys are pointers iterate
// by address; mutexes shared with goroutines outside the bubble; and a
// goroutine that waits in the bubble for file or network I/O keeps the turn, so
// that the other end of a pipe or socket must not be in the same bubble.
package hermetic
