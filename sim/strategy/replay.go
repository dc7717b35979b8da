package strategy

import (
	"errors"
	"fmt"

	"ipamsim/sim"
)

// ErrDiverged is what Replay.Err wraps: the run is not the recorded one.
var ErrDiverged = errors.New("the replay diverged")

// Replay takes its decisions from a recorded schedule. Where it cannot be
// followed any more, the run goes on serially to its end: a prefix of a schedule
// is a schedule too, and an unwilling run must not wait for its time limit.
type Replay struct {
	schedule []int
	next     int
	diverged error
	rest     Serial
}

// NewReplay makes a strategy that repeats sim.Trace.Schedule.
func NewReplay(schedule []int) *Replay { return &Replay{schedule: schedule} }

func (r *Replay) String() string { return fmt.Sprintf("replay(%d decisions)", len(r.schedule)) }

// Begin allows one run.
func (r *Replay) Begin(n uint64) bool { return n == 0 }

// Pick repeats the recorded pick. A run that asks for more, or offers less, than
// the recorded one has diverged: see Err.
func (r *Replay) Pick(step int, enabled []sim.Choice) int {
	switch {
	case r.diverged != nil:
	case r.next >= len(r.schedule):
		r.diverge(step, "the schedule ends here")
	default:
		p := r.schedule[r.next]
		r.next++
		if 0 <= p && p < len(enabled) {
			return p
		}
		r.diverge(step, fmt.Sprintf("decision %d picks %d of %d", r.next, p, len(enabled)))
	}
	return r.rest.Pick(step, enabled)
}

func (r *Replay) diverge(step int, why string) {
	r.diverged = fmt.Errorf("%w after step %d: %s; another build or scenario than the recorded one?", ErrDiverged, step, why)
}

// Err is nil if the whole schedule was followed to its end.
func (r *Replay) Err() error {
	if r.diverged == nil && r.next < len(r.schedule) {
		return fmt.Errorf("%w: it ended after %d of %d decisions", ErrDiverged, r.next, len(r.schedule))
	}
	return r.diverged
}
