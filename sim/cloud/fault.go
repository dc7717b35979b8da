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
	Partial              // a share of writes fails after the first thing that it did
	faults
)

// Fail begins a fault for a share of calls, 0 to 1; which ones the schedule says. The
// function ends it.
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

// Slow makes every call take at least so long; the function ends it.
func (c *Cloud) Slow(by time.Duration) (end func()) { return c.slow.Add(by) }

// One draw of the schedule says of a call how late it reads, whether it is refused and
// whether it fails in the middle. Answer 0 is a call that nothing happens to.
const (
	lags   = 5  // how many ways a read can be late, the first not at all
	chance = 20 // of how many parts a share is taken
)

// lot is what a draw means.
type lot struct {
	lag              int
	refused, partial bool
}

// draws is how many answers a call has.
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

// draw reads an answer. What has begun or ended since the call was made counts as it
// was then only as far as the answer goes.
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
