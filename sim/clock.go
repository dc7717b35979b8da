package sim

import "time"

// Clock is the wall clock of a machine. The processes of the machine see its time in time.Now.
// Durations and timers use virtual time, because the monotonic clock of a real machine does not
// jump with its wall clock. Servers have their own clock, which is virtual time.
//
// It needs the hermetic runtime: on the stock one all processes share the bubble's clock, and a
// jump has no effect.
type Clock struct{ ahead time.Duration }

// Jump sets the clock forward, or with a negative duration back.
func (c *Clock) Jump(by time.Duration) { c.ahead += by }

// Ahead is how far the clock is ahead of virtual time.
func (c *Clock) Ahead() time.Duration { return c.ahead }
