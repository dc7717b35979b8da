// Package timeline tells how a run came to a violation: which messages and events belong to
// the story, how they are drawn for a terminal, and where in the manager's own source they
// were sent.
package timeline

import (
	"fmt"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
)

// linesMax: a timeline is seen at one look.
const linesMax = 40

// Of tells how a run came to a violation: the steps of the actors that had
// a part in it, who read which revision and who wrote what, in the order and at
// the virtual time they happened; what the schedule hurt; what operators and
// machines did; when the address was handed out, taken away and handed out
// again. Steps of others are counted, not shown. The messages whose order decides are
// marked, if that was tried. Its last lines are the verdict, what happens in the other
// order, where in the manager's own source the numbered messages were sent, in at most
// codeLines lines besides, and the command that shows it again.
//
// It is a pure function of the report: the same run gives the same text.
func Of(r *reports.Report, v *model.Violation) string {
	return Story(r, v) + showAgain(r) + "\n"
}

// Story is Of without the command.
func Story(r *reports.Report, v *model.Violation) string {
	lines, _ := timeline(r, v)
	return strings.Join(lines, "\n") + "\n"
}

// showAgain is the last line of a Timeline.
func showAgain(r *reports.Report) string {
	return "   show it again: " + strings.TrimRight(r.Command(), " ")
}

// timeline is the lines of StoryOf, and the places that they number.
func timeline(r *reports.Report, v *model.Violation) ([]string, []*place) {
	sub := subjectOf(r, v)
	head := []string{fmt.Sprintf("%s, seed %d: how it came to %s at step %d", reports.Clean(r.Scenario), r.Seed, v.Invariant, v.Step), ""}
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

// fit draws the entries, leaving out the least important and earliest one after
// another until the lines suffice. It numbers the places of those that are left.
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
