package invariant

import (
	"math"
	"slices"
	"time"

	"ipamsim/model"
)

// deserted reports whether no machine is left that could run a reconciler. Then no process has
// failed to clean up.
func deserted(v *View) bool {
	for _, n := range v.Truth.Nodes {
		if n.Healthy() {
			return false
		}
	}
	return true
}

// passMax is how long a reconciler's pass may have been under way and still be expected
// to end.
const passMax = 2 * time.Minute

// passing returns, while a pass of a reconciler is under way, the start of the last completed pass:
// the current pass is about to find everything that was left since then. If no pass is under way,
// it returns the end of time.
func passing(v *View) time.Duration {
	if v.History == nil {
		return math.MaxInt64
	}
	under, last, ended := false, time.Duration(-1), map[string]bool{}
	for _, e := range slices.Backward(v.History.Events) {
		switch {
		case e.Kind == model.Reconciled:
			ended[e.Actor] = true
		case e.Kind != model.Reconcile:
		case !ended[e.Actor]:
			under = under || v.Truth.At-e.At <= passMax
		case last < 0:
			last = e.At
		}
	}
	if under {
		return max(last, 0)
	}
	return math.MaxInt64
}

// underWay reports whether a message of a background process of the manager has been under way for
// long and still is: the process may be about to do the missing work.
func underWay(v *View) bool { return v.Late > 0 && v.Late == v.Truth.At }

// behind reports whether a background process of the manager has not yet had its grace period since
// it was last delayed.
func behind(v *View) bool {
	return v.Late > 0 && v.Truth.At-v.Late <= max(v.Settings.LeakAfter, young)
}
