package cloud

import (
	"slices"
	"sync"
	"time"
)

// Fault is a state of the provider in which calls fail.
type Fault uint8

// The faults.
const (
	Refuse  Fault = iota // a share of calls is refused: Unavailable
	Partial              // a share of writes fails after its first change
	faults
)

// Fail begins a fault for a share of calls, 0 to 1; the schedule chooses them. The function
// ends it.
func (c *Cloud) Fail(f Fault, share float64) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.share[f] = append(c.share[f], share)
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.share[f], share)
		c.share[f] = slices.Delete(c.share[f], i, i+1)
	})
}

// Slow sets a minimum duration of every call; the function ends it.
func (c *Cloud) Slow(by time.Duration) (end func()) { return c.slow.Add(by) }

// One draw of the schedule decides the lag of a call, whether it is refused and whether it
// fails in the middle. Answer 0 is a call without any of these.
const (
	lags   = 5  // number of lags; the first is no lag
	chance = 20 // the resolution of a share
)

// lot is the meaning of a draw.
type lot struct {
	lag              int
	refused, partial bool
}

// draws returns the number of answers of a call.
func (c *Cloud) draws(x *Exchange) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 1
	if x.Reads && c.opts.Lag > 0 {
		n *= lags
	}
	if len(c.share[Refuse]) > 0 {
		n *= chance
	}
	if !x.Reads && len(c.share[Partial]) > 0 {
		n *= chance
	}
	if n == 1 {
		return 0
	}
	return n
}

// draw interprets an answer. The number of answers is that of the call's start; faults that
// began or ended since apply.
func (c *Cloud) draw(reads bool, answer int) (l lot) {
	if reads && c.opts.Lag > 0 {
		l.lag, answer = answer%lags, answer/lags
	}
	if len(c.share[Refuse]) > 0 {
		l.refused, answer = hits(c.share[Refuse], answer%chance), answer/chance
	}
	if !reads && len(c.share[Partial]) > 0 {
		l.partial = hits(c.share[Partial], answer%chance)
	}
	return l
}

func hits(shares []float64, answer int) bool {
	return answer >= chance-int(chance*slices.Max(shares)+0.5)
}
