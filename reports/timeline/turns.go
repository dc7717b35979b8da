package timeline

import (
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/prose"
)

// Turns returns the turning points of the timeline in order, one line each with its subject:
// assignments, releases and faults.
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
