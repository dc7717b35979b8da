//go:build hermetic

package hermetic

import _ "unsafe" // for go:linkname

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
// of the bubble runs and the answer's timing cannot be observed. It may wait for a
// mutex that is held outside. Unpin before waiting for anything inside the bubble, or
// it hangs. It does not nest.
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

// SetProcess makes the calling goroutine, the goroutines it starts from here on and
// the timers it makes belong to p; nil: to no process. It returns the process that
// the goroutine belonged to before.
//
//go:linkname SetProcess runtime.simSetProcess
func SetProcess(p *Process) (was *Process)
