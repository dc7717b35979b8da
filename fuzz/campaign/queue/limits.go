package queue

import (
	"time"

	"ipamsim/fuzz/shrink"
)

// What a coordinator plans with and a worker keeps to.

// Thorough is how much work a finding may be. One that is still crowded is worth more: one in
// ten is, mostly of a large world, of which a run takes long.
var Thorough = shrink.Options{Time: 20 * time.Second, More: 3}

// ShrinkMin: what has less time left is kept as it is at once.
const ShrinkMin = 500 * time.Millisecond

// LateAfter is what a run gets to end by itself when the campaign's time is up.
const LateAfter = 1500 * time.Millisecond

// WholeRuns are told of at a time.
const WholeRuns = 50
