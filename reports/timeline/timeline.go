// Package timeline renders the steps that led to a violation. It chooses the messages and
// events, draws them for a terminal, and lists the lines of the manager's source that sent
// them.
package timeline

import (
	"fmt"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
)

// linesMax is the maximum length of a timeline: it fits on one screen.
const linesMax = 40

// Of renders the steps that led to a violation, in order and with their virtual time: reads
// and writes of the actors involved with their revisions, faults, actions of operators and
// machines, and each assignment and release of the address. Other steps are counted. The
// messages of a race are marked if the other order was simulated. The last lines are the
// verdict, the result in the other order, at most codeLines lines with the places in the
// manager's source, and the command that reproduces the run.
//
// Of is a pure function of the report: the same run gives the same text.
func Of(r *reports.Report, v *model.Violation) string {
	return Story(r, v) + reproduce(r) + "\n"
}

// Story is Of without the command.
func Story(r *reports.Report, v *model.Violation) string {
	lines, _ := timeline(r, v)
	return strings.Join(lines, "\n") + "\n"
}

// reproduce returns the last line of a timeline.
func reproduce(r *reports.Report) string {
	return "   reproduce: " + strings.TrimRight(r.Command(), " ")
}

// timeline returns the lines of Story and the places that they number.
func timeline(r *reports.Report, v *model.Violation) ([]string, []*place) {
	sub := subjectOf(r, v)
	head := []string{fmt.Sprintf("%s, seed %d: steps that led to %s at step %d", reports.Clean(r.Scenario), r.Seed, v.Invariant, v.Step), ""}
	verdict := append([]string{""}, layout.Wrap(fmt.Sprintf("=> %s (%s) at %s, step %d: %s",
		v.Invariant, v.Severity, layout.Clock(v.At), v.Step, reports.Clean(v.Message)), layout.Width)...)
	entries := pick(r, sub)
	locate(r, entries)
	verdict = append(verdict, sub.swapped()...)
	body, places := fit(entries, sub, linesMax-len(head)-len(verdict)-1) // and the command
	head[0] = layout.Cut(head[0], layout.Width)
	lines := slices.Concat(head, body, verdict, legend(places))
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return lines, places
}

// fit draws the entries. While they exceed the lines, it omits the entry of least weight, the
// earliest among equals. It numbers the places of the rest.
func fit(entries []*entry, sub *subject, lines int) ([]string, []*place) {
	for {
		places := numberPlaces(entries)
		body := draw(entries, sub)
		if len(body) <= lines || len(entries) <= 1 {
			return body, places
		}
		least := 0
		for i, e := range entries {
			if e.weight < entries[least].weight {
				least = i
			}
		}
		entries = append(entries[:least:least], entries[least+1:]...)
	}
}
