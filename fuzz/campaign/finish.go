package campaign

import (
	"context"
	"time"

	"ipamsim/fuzz/campaign/queue"
)

// Time is the coordinator's to give. Exploring ends so early that there is some for
// making small; making small ends so early that whatever has no finding yet can be
// kept as it was recorded; and at the deadline everything ends. Whoever is still
// busy then is not waited for: what he works on is kept as recorded, and the same
// command goes on with it.

// wind down: workers bring what they have.
func (c *coordinator) wind(ctx context.Context, log <-chan queue.Logged) error {
	c.phase = queue.Finishing
	err := c.Announce(ctx, queue.Entry{Build: c.Spec.Build, Name: c.Spec.Names(), Epoch: c.state.epoch, Phase: queue.Finishing})
	if err != nil {
		return err
	}
	enough := time.After(windMax)
	for c.under(queue.Explore)+c.under(queue.Plan) > 0 {
		select {
		case l := <-log:
			if err := c.take(ctx, l); err != nil {
				return err
			}
		case <-enough:
			return nil // the seeds of those are not done; nobody says they are
		}
	}
	return nil
}

// windMax is a moment more than a run gets to end.
const windMax = queue.LateAfter + 500*time.Millisecond

// finish waits for the canary and makes a finding of every kind of failure: a small
// one while there is time, or, if there is none left or ctx has ended, one as
// recorded.
func (c *coordinator) finish(ctx, life context.Context, log <-chan queue.Logged) error {
	c.phase = queue.Finishing
	err := c.Announce(life, queue.Entry{Build: c.Spec.Build, Name: c.Spec.Names(), Epoch: c.state.epoch, Phase: queue.Finishing})
	if err != nil {
		return err
	}
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	if c.Time == 0 {
		c.deadline = time.Now().Add(shrinkTime)
	}
	last, hurry := c.deadline.Add(lateMax), ctx.Done()
	for {
		if ctx.Err() != nil && hurry != nil {
			c.deadline, hurry = time.Now(), nil
			last = c.deadline.Add(hurryTime)
		}
		if err := c.polish(life); err != nil {
			return err
		}
		if c.finished(last) {
			return nil
		}
		select {
		case l := <-log:
			if err := c.take(life, l); err != nil {
				return err
			}
		case <-tick.C:
			c.report()
			if err := c.draw(); err != nil {
				return err
			}
		case err := <-c.crew.failed:
			return err
		case <-hurry:
		}
	}
}

// finished reports whether nobody is waited for any more: nothing is under way, or it
// is a while past the deadline and nothing but making small is, or it is past the last
// moment.
func (c *coordinator) finished(last time.Time) bool {
	now := time.Now()
	switch {
	case len(c.asked) == 0 || now.After(last):
		return true
	case now.Before(c.deadline):
		return false
	}
	late := now.After(last.Add(-hurryTime)) // for what is about to be small
	return c.state.canary && c.under(queue.Record) == 0 && (late || c.under(queue.Shrink) == 0)
}

// reserve is how much of the campaign's time is left to what comes after exploring:
// making small, as long as that will take as far as one can tell, and the last as long as any
// other, but not more than a fifth; and keeping what is not small by then.
func (c *coordinator) reserve() time.Duration {
	need := time.Second
	if n := c.state.shrunk; n > 0 {
		need = c.state.shrinking / time.Duration(n)
	}
	if open := len(c.state.open()); open > 0 {
		need = need*time.Duration(open)/time.Duration(max(1, c.Workers)) + queue.Thorough.Time
	} else {
		need = 0
	}
	return min(need, c.Time/5) + c.keeping()
}

// spare is how long a failure that is asked for now may be made small.
func (c *coordinator) spare() time.Duration {
	if c.deadline.IsZero() {
		return queue.Thorough.Time
	}
	return time.Until(c.deadline) - c.keeping() - shrunkMin - shrunkRuns*c.each()
}

// each is how long a run takes, about.
func (c *coordinator) each() time.Duration {
	return c.state.busy / time.Duration(max(1, c.state.runs))
}

// keeping is about how long it takes to keep the failures that have no finding as
// they are. If too long is kept free, some are made small after all; if too little,
// the campaign ends late.
func (c *coordinator) keeping() time.Duration {
	s, n := c.state, c.state.unkept()
	each := recordMin + recordRuns*c.each()
	if s.recorded > 0 {
		each = s.recording * 3 / 2 / time.Duration(s.recorded)
	}
	workers := max(1, c.Workers)
	return each * time.Duration((n+workers-1)/workers)
}

const (
	// shrinkTime is for a campaign of so many runs.
	shrinkTime = time.Minute

	// What a failure takes besides that is made small until its time is up: it is run,
	// recorded, replayed and drawn.
	shrunkMin, shrunkRuns = 500 * time.Millisecond, 10
	// What it takes to keep one as it is, before any was: its run, a few times.
	recordMin, recordRuns = time.Second, 3
	// lateMax is for keeping if it takes longer than it was thought to, hurryTime if
	// somebody waits for the end.
	lateMax, hurryTime = 6 * time.Second, 3 * time.Second
)
