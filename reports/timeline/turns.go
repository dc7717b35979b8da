package timeline

import (
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/prose"
)

// Turns are the turning points of the story that Timeline tells, in order: what
// was handed out, taken away or hurt, each with its subject, on one line.
func Turns(r *reports.Report, v *model.Violation) []string {
	var out []string
	for _, e := range pick(r, subjectOf(r, v)) {
		switch {
		case e.weight < fate || e.turn == "":
		case e.fact:
			out = append(out, e.text)
		default:
			out = append(out, reports.Clean(prose.Process(e.actor))+e.text)
		}
	}
	return out
}
