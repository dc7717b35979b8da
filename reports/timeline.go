package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ipamsim/model"
)

// The timeline fits a terminal and one look at it.
const (
	timelineWidth = 110
	timelineLines = 40
)

// Timeline tells how a run came to a violation: the steps of the actors that had
// a part in it, who read which revision and who wrote what, in the order and at
// the virtual time they happened; what the schedule hurt; what operators and
// machines did; when the address was handed out, taken away and handed out
// again. Steps of others are counted, not shown. The messages whose order decides are
// marked, if that was tried. Its last lines are the verdict, what happens in the other
// order, where in the manager's own source the numbered messages were sent, in at most
// codeLines lines besides, and the command that shows it again.
//
// It is a pure function of the report: the same run gives the same text.
func Timeline(r *Report, v *model.Violation) string {
	return StoryOf(r, v) + r.showAgain() + "\n"
}

// StoryOf is a Timeline without the command.
func StoryOf(r *Report, v *model.Violation) string {
	lines, _ := r.timeline(v)
	return strings.Join(lines, "\n") + "\n"
}

// showAgain is the last line of a Timeline.
func (r *Report) showAgain() string {
	return "   show it again: " + strings.TrimRight(r.Command(), " ")
}

// timeline is the lines of StoryOf, and the places that they number.
func (r *Report) timeline(v *model.Violation) ([]string, []*place) {
	sub := subjectOf(r, v)
	head := []string{fmt.Sprintf("%s, seed %d: how it came to %s at step %d", Clean(r.Scenario), r.Seed, v.Invariant, v.Step), ""}
	verdict := append([]string{""}, wrap(fmt.Sprintf("=> %s (%s) at %s, step %d: %s",
		v.Invariant, v.Severity, clock(v.At), v.Step, Clean(v.Message)), timelineWidth)...)
	entries := pick(r, sub)
	r.locate(entries)
	verdict = append(verdict, sub.swapped()...)
	body, places := fit(entries, sub, timelineLines-len(head)-len(verdict)-1) // and the command
	head[0] = cut(head[0], timelineWidth)
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

// Command is what to type to see the run again.
func (r *Report) Command() string {
	file := r.File
	if file == "" {
		file = r.Scenario + ".yaml"
	}
	if r.Strategy == "replay" {
		return "ipamsim replay " + Shell(file)
	}
	c := "ipamsim run " + Shell(file) + " --seed " + strconv.FormatUint(r.Seed, 10)
	if !r.Exact {
		c += " --strategy " + Shell(r.Strategy)
		if r.Datastore != "" {
			c += " --datastore " + Shell(r.Datastore)
		}
	}
	if r.Controllers != "" {
		c += " --controllers " + r.Controllers
	}
	return c
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,~-]+$`)

// Shell quotes an argument so that it can be pasted. One with control characters
// cannot: it is shown, not offered.
func Shell(arg string) string {
	if plain.MatchString(arg) && !strings.HasPrefix(arg, "-") {
		return arg
	}
	return "'" + strings.ReplaceAll(Clean(arg), "'", `'\''`) + "'"
}
