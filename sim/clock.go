package sim

import "time"

// Clock is the wall clock of a machine. The processes that go by it see its time
// in time.Now; what they measure and wait for stays virtual time, as a real
// machine's monotonic clock does not jump with its calendar. What a server does
// for a message goes by virtual time: a server has a clock of its own.
//
// It needs the hermetic runtime: on the stock one all processes share the
// bubble's clock, and a jump changes nothing.
type Clock struct{ ahead time.Duration }

// Jump sets the clock forward, or with a negative duration back.
func (c *Clock) Jump(by time.Duration) { c.ahead += by }

// Ahead is how far the clock is ahead of virtual time.
func (c *Clock) Ahead() time.Duration { return c.ahead }
