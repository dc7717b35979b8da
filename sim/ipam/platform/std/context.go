package std

// Contexts are Go's own, except for root contexts: when a process dies all of its goroutines end,
// and here they end with the program's own context.

import (
	real "context"

	"ipamsim/sim/ipam/platform"
)

// Context and CancelFunc are Go's own.
type (
	Context    = real.Context
	CancelFunc = real.CancelFunc
)

// WithCancel and WithTimeout are Go's own.
var (
	WithCancel  = real.WithCancel
	WithTimeout = real.WithTimeout
)

// Background ends when the program is killed.
func Background() Context { return platform.Current().Ctx }

// TODO is Background.
func TODO() Context { return Background() }
