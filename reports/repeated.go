package reports

import (
	"fmt"

	"ipamsim/reports/layout"
)

// Repeated counts the repeated runs by cause. A seed decides a run completely, so repeats should
// be rare: many mean that runs are not reproducible on this machine.
type Repeated struct {
	// Woken: an event outside the bubble woke it (Report.Foreign). The kernel of a busy machine
	// may cause that; no seed decides it.
	Woken int `json:"woken"`
	// Died: the process of the run died.
	Died int `json:"died"`
}

// Add adds other counts.
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
