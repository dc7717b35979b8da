// Package retry tries once more what something outside of the simulation may have disturbed.
package retry

import (
	"errors"

	"ipamsim/reports"
)

// Runs are how many runs a try made, and how often something outside woke one of them.
type Runs struct {
	N     int
	Woken uint64
}

// Add a run that rep reports, if it got that far.
func (r *Runs) Add(rep *reports.Report) {
	r.N++
	if rep != nil {
		r.Woken += rep.Foreign
	}
}

// Woken tries what failed with the error notAgain once more, and a third time, where
// something outside woke one of its runs: such a run (reports.Report.Foreign) need not
// repeat, and the next one does. Without that it is a defect, which another try would
// hide.
func Woken(notAgain error, try func() (Runs, error)) (repeated reports.Repeated, err error) {
	for n := 1; ; n++ {
		r, err := try()
		if !errors.Is(err, notAgain) || r.Woken == 0 || n == triesMax {
			return repeated, err
		}
		repeated.Woken += r.N
	}
}

// triesMax: the kernel of a busy machine wakes hardly one run in a thousand.
const triesMax = 3
