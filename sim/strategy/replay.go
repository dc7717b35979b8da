package strategy

import (
	"fmt"

	"ipamsim/sim"
)

// Replay takes its decisions from a recorded schedule.
type Replay struct {
	schedule []int
	next     int
	diverged error
}

// NewReplay makes a strategy that repeats sim.Trace.Schedule.
func NewReplay(schedule []int) *Replay { return &Replay{schedule: schedule} }

func (r *Replay) String() string { return fmt.Sprintf("replay(%d decisions)", len(r.schedule)) }

// Begin allows one run.
func (r *Replay) Begin(n uint64) bool { return n == 0 }

// Pick repeats the recorded pick. A run that asks for more, or offers less, than
// the recorded one has diverged: see Err.
func (r *Replay) Pick(step int, enabled []sim.Choice) int {
	if r.next >= len(r.schedule) {
		r.diverge(step, "the schedule ends here")
		return len(enabled) - 1
	}
	p := r.schedule[r.next]
	r.next++
	if p >= len(enabled) {
		r.diverge(step, fmt.Sprintf("decision %d picks %d of %d", r.next, p, len(enabled)))
		return len(enabled) - 1
	}
	return p
}

func (r *Replay) diverge(step int, why string) {
	if r.diverged == nil {
		r.diverged = fmt.Errorf("the replay diverged after step %d: %s; another build or scenario than the recorded one?", step, why)
	}
}

// Err is nil if the whole schedule was followed to its end.
func (r *Replay) Err() error {
	if r.diverged == nil && r.next < len(r.schedule) {
		return fmt.Errorf("the replay ended after %d of %d decisions", r.next, len(r.schedule))
	}
	return r.diverged
}
