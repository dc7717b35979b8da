package campaign

import (
	"context"
	"time"

	"ipamsim/fuzz/campaign/queue"
)

// The coordinator divides the time. Exploring ends early enough for shrinking; shrinking ends early
// enough to record every failure without a finding; at the deadline everything ends. The
// coordinator does not wait for workers that are still busy: their failures are recorded
// without shrinking, and the same command resumes with them.

// windDown ends exploring: workers report the results that they have.
func (c *coordinator) windDown(ctx context.Context, log <-chan queue.Logged) error {
	c.phase = queue.Finishing
	err := c.Announce(ctx, queue.Entry{Build: c.Spec.Build, Name: c.Spec.Names(), Epoch: c.state.epoch, Phase: queue.Finishing})
	if err != nil {
		return err
	}
	enough := time.After(windDownMax)
	for c.under(queue.Explore)+c.under(queue.Plan) > 0 {
		select {
		case l := <-log:
			if err := c.take(ctx, l); err != nil {
				return err
			}
		case <-enough:
			return nil // these seeds do not count as done
		}
	}
	return nil
}

// windDownMax is slightly longer than the time in which a run has to end.
const windDownMax = queue.LateAfter + 500*time.Millisecond

// finish waits for the canary and records a finding for every kind of failure: shrunk if there is
// time, otherwise, or after ctx has ended, as it is.
func (c *coordinator) finish(ctx, linkCtx context.Context, log <-chan queue.Logged) error {
	c.phase = queue.Finishing
	err := c.Announce(linkCtx, queue.Entry{Build: c.Spec.Build, Name: c.Spec.Names(), Epoch: c.state.epoch, Phase: queue.Finishing})
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
		if err := c.planFindings(linkCtx); err != nil {
			return err
		}
		if c.finished(last) {
			return nil
		}
		select {
		case l := <-log:
			if err := c.take(linkCtx, l); err != nil {
				return err
			}
		case <-tick.C:
			c.report()
			if err := c.draw(); err != nil {
				return err
			}
		case err := <-c.workers.failed:
			return err
		case <-hurry:
		}
	}
}

// finished reports whether the coordinator stops waiting: no shard is open, or the deadline is
// over and only shrinking is open, or last is over.
func (c *coordinator) finished(last time.Time) bool {
	now := time.Now()
	switch {
	case len(c.asked) == 0 || now.After(last):
		return true
	case now.Before(c.deadline):
		return false
	}
	late := now.After(last.Add(-hurryTime)) // shrinking may take until then
	return c.state.canary && c.under(queue.Record) == 0 && (late || c.under(queue.Shrink) == 0)
}

// reserve returns the part of the campaign's time for the work after exploring: the estimated time
// for shrinking, at most a fifth, and the time to record what is not shrunk by then.
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

// spare returns the time for shrinking a failure that is requested now.
func (c *coordinator) spare() time.Duration {
	if c.deadline.IsZero() {
		return queue.Thorough.Time
	}
	return time.Until(c.deadline) - c.keeping() - shrunkMin - shrunkRuns*c.each()
}

// each returns the average duration of a run.
func (c *coordinator) each() time.Duration {
	return c.state.busy / time.Duration(max(1, c.state.runs))
}

// keeping estimates the time to record the failures that have no finding, without shrinking. If
// the estimate is too high, some are shrunk nevertheless; if it is too low, the campaign
// ends late.
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
	// shrinkTime is for a campaign with a number of runs instead of a time.
	shrinkTime = time.Minute

	// The other costs of a shrunk failure: it is run, recorded, replayed, and its pages
	// are written.
	shrunkMin, shrunkRuns = 500 * time.Millisecond, 10
	// The estimate for recording a failure, before the first was recorded: some of its runs.
	recordMin, recordRuns = time.Second, 3
	// lateMax is for recording if that takes longer than estimated, hurryTime if the user
	// interrupted.
	lateMax, hurryTime = 6 * time.Second, 3 * time.Second
)
