package timeline

import (
	"fmt"

	"ipamsim/model"
	"ipamsim/reports"
)

// Chosen lists the steps and events of a violation's timeline without their text: place,
// weight and kind of turning point. Two runs that differ only in wording have the same list.
func Chosen(r *reports.Report, v *model.Violation) (out []string) {
	for _, e := range pick(r, subjectOf(r, v)) {
		out = append(out, fmt.Sprintf("%d %v %s in %s %c %t %s %d, %d times until %v", e.step, e.at, e.actor, e.lane, e.mark, e.fact, e.turn, e.weight, e.times, e.until))
	}
	return out
}

// Reword replaces every text of package prose by the result of f until undo is called. It
// is for tests: a timeline with other wording must show the same steps.
func Reword(f func(string) string) (undo func()) {
	was := spoken
	spoken = f
	return func() { spoken = was }
}
