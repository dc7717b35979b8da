package reports

import (
	"fmt"

	"ipamsim/reports/layout"
)

// Repeated counts the runs that were done again, by cause: what a seed decides is the
// same every time, so that nobody should have to. Who sees many has a machine, or an
// ipamsim, on which runs do not repeat.
type Repeated struct {
	// Woken: something outside woke the run's bubble (Report.Foreign), which the kernel
	// of a busy machine may do and no seed decides.
	Woken int `json:"woken"`
	// Died: the process of the run did not live to its end.
	Died int `json:"died"`
}

// Add what is counted elsewhere.
func (r *Repeated) Add(o Repeated) { r.Woken, r.Died = r.Woken+o.Woken, r.Died+o.Died }

// Runs that were done again.
func (r Repeated) Runs() int { return r.Woken + r.Died }

// String says how many and why, "" if there are none.
func (r Repeated) String() string {
	why := ""
	switch {
	case r == Repeated{}:
		return ""
	case r.Died == 0:
		why = "woken from outside"
	case r.Woken > 0:
		why = fmt.Sprintf("%d woken from outside, %d whose process died", r.Woken, r.Died)
	case r.Died == 1:
		why = "its process died"
	default:
		why = "their processes died"
	}
	return layout.Plural(r.Runs(), "run") + " repeated: " + why
}
