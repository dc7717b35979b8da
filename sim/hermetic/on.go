//go:build hermetic

package hermetic

import (
	"time"
	_ "unsafe" // for go:linkname
)

// Enabled reports whether the binary was built on the generated runtime.
const Enabled = true

// SetSeed seeds the next bubble that the calling goroutine starts; without it
// the seed is 0. It panics inside a bubble.
//
//go:linkname SetSeed runtime.simSetSeed
func SetSeed(seed uint64)

// SetStream makes the hand-overs of the caller's bubble follow choices instead
// of the seed, so that a fuzzer or shrinker can change one of them alone. Each
// time n > 1 goroutines wait for the turn, the next byte modulo n picks one,
// counted from the longest waiting; after the last byte the longest waiting
// goes first. All other randomness still comes from the seed.
//
// Call it first in the bubble; choices must not change afterwards. It panics
// outside a bubble.
//
//go:linkname SetStream runtime.simSetStream
func SetStream(choices []byte)

// Pin brackets a call that is answered from outside the bubble: while pinned,
// the calling goroutine keeps the turn however it waits, so that nothing else
// of the bubble runs and the answer's timing cannot be observed. Unpin before
// waiting for anything inside the bubble, or it hangs. It does not nest.
//
//go:linkname Pin runtime.simPin
func Pin(on bool)

// Foreign counts the wake-ups that reached a goroutine without the turn from
// outside its bubble. Each is a race that the seed does not decide, a missing
// Pin; a run that repeats has none. Inside a bubble it counts those of that
// bubble, outside those of the process since its start.
//
//go:linkname Foreign runtime.simForeign
func Foreign() uint64

// SetClock makes the wall clock of the calling goroutine, of the goroutines it
// starts from here on and of the timers it makes, be ahead of the bubble's by
// what the pointer holds, from this moment to the next; nil: not at all. It
// returns the pointer that was set before.
//
// Only time.Now is ahead, and what is read from it has a monotonic part, as
// outside a bubble: sleeping, timers and time.Since go by the bubble's clock,
// however the wall clock jumps.
//
//go:linkname SetClock runtime.simSetClock
func SetClock(ahead *time.Duration) (was *time.Duration)
