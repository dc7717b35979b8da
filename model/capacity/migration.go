package capacity

import (
	"time"

	"ipamsim/model/capacity/workload"
)

// StepDone is what became of a step.
type StepDone struct {
	// At is when it began, and End when it was done: Never if not within the horizon.
	At, End time.Duration
	Pods    int `json:",omitempty"` // that were restarted
	// Refused is how often it was refused, and Why the last reason.
	Refused int    `json:",omitempty"`
	Why     string `json:",omitempty"`
}

// Migration is what became of a cluster's migration.
type Migration struct {
	// Steps are the steps that were begun, in the order of Cluster.Migration.
	Steps []StepDone
	// End is when the last step was done; Never if it was not within the horizon.
	End time.Duration
	// Worst are the largest values of all Samples taken before each step and during
	// restarts.
	Worst Sample
}

// Restarted counts the pods that were restarted.
func (m *Migration) Restarted() (n int) {
	for i := range m.Steps {
		n += m.Steps[i].Pods
	}
	return n
}

// Saw adds a sample to the worst.
func (m *Migration) Saw(s Sample) {
	w := &m.Worst
	w.Waiting, w.Unplaced, w.Starved = max(w.Waiting, s.Waiting), max(w.Unplaced, s.Unplaced), max(w.Starved, s.Starved)
	w.Blackholed, w.Borrowed, w.Leaked = max(w.Blackholed, s.Blackholed), max(w.Borrowed, s.Borrowed), max(w.Leaked, s.Leaked)
	w.Six.Routes, w.Six.Blackholed = max(w.Six.Routes, s.Six.Routes), max(w.Six.Blackholed, s.Six.Blackholed)
	w.Routes, w.Blocks, w.InUse = max(w.Routes, s.Routes), max(w.Blocks, s.Blocks), max(w.InUse, s.InUse)
}

// Settle is the time until the initial state, or the result of a migration, is measured: until pods
// of a lost node are evicted, waiting pods have retried, and two passes of the reconciler have
// released leaks; at least an hour, at most a quarter of the horizon.
func (c *Cluster) Settle() time.Duration {
	t := c.Evict() + workload.PodGC + workload.Retry
	if every := c.Collect.Every; every > 0 {
		t += 2 * every
		if m, ok := c.Manager.(Patient); ok && c.Collect.Grace >= 0 {
			t += max(c.Collect.Grace, m.Grace())
		}
	}
	return min(max(t, time.Hour), c.Horizon/4)
}

// Judged is from when on a course counts; Never as long as that is not known, because
// a migration has to end first.
func (c *Cluster) Judged() time.Duration {
	switch {
	case c.JudgeFrom > 0:
		return c.JudgeFrom
	case len(c.Migration) > 0:
		return Never
	case c.Record != nil:
		return c.Settle()
	}
	return 0
}
