package timeline

import (
	"fmt"

	"ipamsim/model"
	"ipamsim/reports"
)

// Chosen is what the timeline of a violation is drawn of, without its words: which
// steps and entries, what each is worth, and as what kind of turning point.
func Chosen(r *reports.Report, v *model.Violation) (out []string) {
	for _, e := range pick(r, subjectOf(r, v)) {
		out = append(out, fmt.Sprintf("%d %v %s in %s %c %t %s %d, %d times until %v", e.step, e.at, e.actor, e.lane, e.mark, e.fact, e.turn, e.weight, e.times, e.until))
	}
	return out
}

// Reword makes every text of package prose say what f makes of it, until it is undone.
func Reword(f func(string) string) (undo func()) {
	was := spoken
	spoken = f
	return func() { spoken = was }
}
