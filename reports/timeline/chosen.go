package timeline

import (
	"fmt"

	"ipamsim/model"
	"ipamsim/reports"
)

// Chosen is what the timeline of a violation is drawn from, without its words: the chosen
// steps and entries, the weight of each, and its kind of turning point. Two runs that
// differ only in wording have the same list.
func Chosen(r *reports.Report, v *model.Violation) (out []string) {
	for _, e := range pick(r, subjectOf(r, v)) {
		out = append(out, fmt.Sprintf("%d %v %s in %s %c %t %s %d, %d times until %v", e.step, e.at, e.actor, e.lane, e.mark, e.fact, e.turn, e.weight, e.times, e.until))
	}
	return out
}

// Reword makes every text of package prose what f returns for it, until undo is called.
// It is for tests: a timeline in other words must show the same steps.
func Reword(f func(string) string) (undo func()) {
	was := spoken
	spoken = f
	return func() { spoken = was }
}
