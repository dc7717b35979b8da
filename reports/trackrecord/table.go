package trackrecord

import (
	"fmt"
	"strings"
)

// Table renders the newest code that was read, and the component's rows as a Markdown
// table of nine columns.
func (c Component) Table() string {
	n := c.Newest
	b := fmt.Sprintf("The newest upstream code that was read is [%s](%s), %s.\n\n", n.Version, n.Link, n.Date)
	b += header("what", "component", "violated", "first in", "fixed in", "known as", "datastore",
		"premise and likelihood", "command")
	for _, r := range c.Rows {
		store := r.Datastore
		if store == "" {
			store = "–"
		}
		known := r.KnownAs()
		if r.Issue != "" {
			known += "; [text of an issue](trackrecord/issues/" + r.Issue + ")"
		}
		b += line(r.What, c.Parties(r), r.Violates(), r.First, r.FixedIn(), known, store,
			r.Premise+". *"+r.Likelihood+"*", "`"+r.Command()+"`")
	}
	return b
}

// Front renders the section of the front page: the numbers, and a table of five
// columns with the rows of the front page.
func Front(all []Component) string {
	b := CountOf(all).Sentence() + " Ten of the [rows](reports/README.md), each with the command that shows it:\n\n"
	b += header("what", "component", "violated", "known as", "command")
	for _, c := range all {
		for _, r := range c.Rows {
			if r.Front {
				b += line(r.What, c.Parties(r), r.Violates(), r.KnownAs(), "`"+r.Command()+"`")
			}
		}
	}
	return b
}

// Parties names the component, its release, and what else has a part in the failure.
func (c Component) Parties(r Row) string {
	if r.With == "" {
		return c.Upstream(r)
	}
	return c.Upstream(r) + ", " + r.With
}

// Violates names the violated invariants, or says why there are none.
func (r Row) Violates() string {
	if len(r.Violated) == 0 {
		return "(" + r.Unjudged + ")"
	}
	return strings.Join(r.Violated, ", ")
}

// FixedIn names the release with the fix, or says why there is none, in Markdown.
func (r Row) FixedIn() string {
	switch f := r.Fixed; {
	case f.Release != "":
		s := f.Release + " (" + f.Commit + ")"
		if f.Part != "" {
			s += "; " + f.Part
		}
		if c := r.Confirmed; c != nil {
			s += fmt.Sprintf(". Confirmed with %s: %s (`%s`, %s)", c.Version, c.Runs, c.Command, c.Date)
		}
		return s
	case f.Open != nil:
		return fmt.Sprintf("not fixed as of %s (%s)", f.Open.Version, f.Open.Date)
	case f.Design != "":
		return "by design: " + f.Design
	}
	return "not determined: " + r.Fixed.Unknown
}

// KnownAs names the reports of the failure, or the search that found none, in Markdown.
func (r Row) KnownAs() string {
	if r.Known != "" {
		return r.Known
	}
	s := fmt.Sprintf("no report found (%q, %s)", r.Searched.Query, r.Searched.Date)
	if r.Searched.Related != "" {
		s += "; related: " + r.Searched.Related
	}
	return s
}

func header(columns ...string) string {
	return line(columns...) + "|" + strings.Repeat("---|", len(columns)) + "\n"
}

func line(cells ...string) string {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.Join(strings.Fields(c), " "), "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}
