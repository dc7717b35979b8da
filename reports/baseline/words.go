package baseline

import (
	"fmt"
	"strings"

	"ipamsim/reports"
	"ipamsim/reports/layout"
)

// Verdict renders the result of the gate on one line.
func (o *Outcome) Verdict() string {
	scenarios, worse, changed, unknown, moved := 0, 0, 0, 0, 0
	found, unsearched := false, false
	var pools []string // that got worse
	for i := range o.Rows {
		switch r := &o.Rows[i]; {
		case r.Pool && r.Red():
			pools = append(pools, reports.Clean(r.Scenario))
		case r.Pool:
			moved++
		case r.Search:
			found = found || r.worst() == worseRow
			unsearched = unsearched || r.worst() == unknownRow
		default:
			scenarios++
			switch r.worst() {
			case worseRow:
				worse++
			case changedRow:
				changed++
			case unknownRow:
				unknown++
			}
			if len(r.Changes) > 0 {
				moved++
			}
		}
	}
	all := layout.Plural(scenarios, "scenario")
	var bad []string
	if worse > 0 {
		pools = append([]string{fmt.Sprintf("%d of %s", worse, all)}, pools...)
	}
	if len(pools) > 0 {
		bad = append(bad, strings.Join(pools, " and ")+" got worse")
	}
	for _, x := range []struct {
		n    int
		what string
	}{{changed, "changed, review"}, {unknown, "could not be judged"}} {
		if x.n > 0 {
			bad = append(bad, fmt.Sprintf("%d of %s %s", x.n, all, x.what))
		}
	}
	if found {
		bad = append(bad, "the search found an unknown failure")
	}
	if unsearched {
		bad = append(bad, "the search had no result")
	}
	switch {
	case len(pools)+changed > 0 || found:
		return "RED: " + strings.Join(bad, ", ")
	case unknown > 0 || unsearched:
		return "UNKNOWN: " + strings.Join(bad, ", ")
	case moved > 0:
		return "green: nothing got worse in " + all + ", some results changed"
	case scenarios == 1:
		return "green: 1 scenario is as in the baseline"
	default:
		return "green: " + all + " are as in the baseline"
	}
}

// Outcomes of a row, by increasing severity.
const (
	calmRow = iota
	unknownRow
	changedRow
	worseRow
)

// worst returns the most severe outcome of a row's changes.
func (r *Row) worst() int {
	worst := calmRow
	for i := range r.Changes {
		c := &r.Changes[i]
		switch {
		case !c.Regression:
		case !c.Kind.proves():
			worst = max(worst, unknownRow)
		case c.Kind == ChangedViolation:
			worst = max(worst, changedRow)
		default:
			worst = worseRow
		}
	}
	return worst
}

// Words renders a change on one line: its kind, subject and severity.
func (c *Change) Words() string {
	what := reports.Clean(c.What)
	if c.Severity != "" {
		what += " (" + reports.Clean(string(c.Severity)) + ")"
	}
	say := func(before string) string { return strings.TrimSuffix(strings.TrimSpace(before+what), ":") }
	switch c.Kind {
	case NewViolation:
		return say("breaks: ")
	case VanishedViolation:
		return say("no longer seen, same upstream: ")
	case FixedViolation:
		return say("fixed: ")
	case ChangedViolation:
		return say("changed, review: ")
	case Nondeterminism:
		return say("nondeterministic: ")
	case CostMoved:
		return say("cost: ")
	case NewScenario:
		return say("not in the baseline: ")
	case MissingScenario:
		return say("scenario is gone: ")
	case NotReproduced:
		return say("no longer reproduces: ")
	case CannotRun:
		return say("could not run: ")
	case LeftOut:
		return say("skipped, out of time: ")
	case Unfinished:
		return say("a limit was reached: ")
	}
	return say(reports.Clean(string(c.Kind)) + ": ")
}

// moved renders "before -> now", or "" if both are empty.
func (c *Change) moved() string {
	before, after := reports.Clean(c.Before), reports.Clean(c.After)
	if before == "" && after == "" {
		return ""
	}
	return strings.TrimSpace(before + " -> " + after)
}

// place returns the file and line of the row.
func (r *Row) place() (file string, line int) { return r.File, max(1, r.Line) }

// placeOf returns the file and line of one of its changes.
func (r *Row) placeOf(c *Change) (file string, line int) {
	if c.File != "" {
		return c.File, 1
	}
	return r.place()
}

// gravest returns the first change that turns the gate red, or else the first, or nil.
func (r *Row) gravest() *Change {
	for i := range r.Changes {
		if r.Changes[i].Regression {
			return &r.Changes[i]
		}
	}
	if len(r.Changes) > 0 {
		return &r.Changes[0]
	}
	return nil
}

// story renders a change on several clean lines: words, sentence, before and now, command,
// timeline.
func (c *Change) story() string {
	lines := []string{c.Words()}
	if m := c.moved(); m != "" {
		lines[0] += ": " + m
	}
	if c.Sentence != "" {
		lines = append(lines, reports.Clean(c.Sentence))
	}
	if c.Command != "" {
		lines = append(lines, "reproduce: "+reports.Clean(c.Command))
	}
	if c.Timeline != "" {
		lines = append(lines, "", cleanLines(c.Timeline))
	}
	return strings.Join(lines, "\n")
}

// cleanLines applies reports.Clean to each line and trims trailing newlines.
func cleanLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = reports.Clean(l)
	}
	return strings.Join(lines, "\n")
}
