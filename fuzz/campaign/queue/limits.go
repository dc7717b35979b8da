package queue

import (
	"time"

	"ipamsim/fuzz/shrink"
)

// Limits that a coordinator plans with and a worker keeps to.

// Thorough is the effort for one finding. A finding that is still large after Time gets More: one
// in ten, mostly those whose scenario is large and whose runs take long.
var Thorough = shrink.Options{Time: 20 * time.Second, More: 3}

// ShrinkMin is the least time for shrinking. A failure with less time left is recorded as it is.
const ShrinkMin = 500 * time.Millisecond

// LateAfter is the time in which a run may end by itself after the campaign's time is up.
const LateAfter = 1500 * time.Millisecond

// WholeRuns is the number of runs that a worker reports together.
const WholeRuns = 50
