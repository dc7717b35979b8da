// Package retry repeats attempts that something outside of the simulation may have disturbed.
package retry

import (
	"errors"

	"ipamsim/reports"
)

// Runs counts the runs of an attempt, and how often something outside woke one of them.
type Runs struct {
	N     int
	Woken uint64
}

// Add adds a run that rep reports; rep is nil if the run failed.
func (r *Runs) Add(rep *reports.Report) {
	r.N++
	if rep != nil {
		r.Woken += rep.Foreign
	}
}

// Woken repeats an attempt that failed with the error notAgain, up to triesMax times, if something outside
// woke one of its runs. Such a run (reports.Report.Foreign) may not be repeatable, but the next one
// is. Otherwise the failure is a defect, which another attempt would hide.
func Woken(notAgain error, try func() (Runs, error)) (repeated reports.Repeated, err error) {
	for n := 1; ; n++ {
		r, err := try()
		if !errors.Is(err, notAgain) || r.Woken == 0 || n == triesMax {
			return repeated, err
		}
		repeated.Woken += r.N
	}
}

// triesMax is enough: on a busy machine about one run in a thousand is woken.
const triesMax = 3
