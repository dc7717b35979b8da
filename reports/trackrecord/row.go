package trackrecord

import (
	"regexp"
	"slices"
	"strings"
)

// Row is one failure. Texts are Markdown.
type Row struct {
	Scenario string // file of scenarios, without .yaml
	What     string
	With     string   // another party to the failure than the component
	Violated []string // invariants that the scenario expects
	Unjudged string   // why no invariant covers it, where Violated is empty
	First    string   // release, or "not determined: reason"
	Last     string   // the newest release that was seen to fail, if the component's own has the fix
	Fixed    Fix
	Known    string  // links to reports or documents of it
	Searched *Search // the search that found none, where Known is empty

	Datastore  string // one or more of the component's datastores
	Premise    string
	Likelihood string // in a default cluster

	Front     bool // on the front page
	Confirmed *Confirmation
	Issue     string // file of issues, with a text for the maintainers
}

// Fix is the state of upstream. Exactly one of Release, Open, Design and
// Unknown is set.
type Fix struct {
	Release string // that has the fix, or "not released"
	Commit  string // link to the pull request or commit, with Release
	Part    string // what the fix leaves, with Release
	Open    *Code  // newest code that still has the failure
	Design  string // the link or document that calls it intended
	Unknown string // why it is not determined
}

// Search is a search for reports that found none.
type Search struct {
	Query   string
	Date    string
	Related string // links to what comes closest
}

// Confirmation is a run of the scenario with the release that has the fix.
type Confirmation struct{ Version, Command, Runs, Date string }

// Command is the command that shows the row.
func (r Row) Command() string { return "ipamsim run scenarios/" + r.Scenario + ".yaml" }

var (
	day  = regexp.MustCompile(`^20\d\d-\d\d-\d\d$`)
	link = regexp.MustCompile(`\[[^\]]+\]\(https://[^)]+\)`)
	kb   = regexp.MustCompile(`\bKB \d+\b`) // an article of a knowledge base
)

// problems lists the columns that the row lacks.
func (r Row) problems(datastores []string) (out []string) {
	need := func(ok bool, what string) {
		if !ok {
			out = append(out, what)
		}
	}
	need(r.Scenario != "", "scenario is required")
	need(r.What != "", "what is required")
	need((len(r.Violated) > 0) != (r.Unjudged != ""), "one of violated and unjudged is required")
	need(r.First != "", "first is required")
	need(r.Last == "" || r.Fixed.Release != "" && r.Fixed.Part == "", "last requires fixed.release, without part")
	out = append(out, r.Fixed.problems()...)
	need((r.Known != "") != (r.Searched != nil), "one of known and searched is required")
	need(r.Known == "" || link.MatchString(r.Known) || kb.MatchString(r.Known), "known names no link")
	if s := r.Searched; s != nil {
		need(s.Query != "" && day.MatchString(s.Date), "searched requires query and date")
	}
	names := func(d string) bool { return strings.Contains(r.Datastore, d) }
	none := len(datastores) == 0 && r.Datastore == ""
	need(none || slices.ContainsFunc(datastores, names), "datastore is required where the component has datastores")
	need(r.Premise != "", "premise is required")
	need(r.Likelihood != "", "likelihood is required")
	if c := r.Confirmed; c != nil {
		whole := c.Version != "" && c.Command != "" && c.Runs != "" && day.MatchString(c.Date)
		need(whole, "confirmed requires version, command, runs and date")
		need(r.Fixed.Release != "", "confirmed requires fixed.release")
	}
	return out
}

func (f Fix) problems() (out []string) {
	states := 0
	for _, set := range []bool{f.Release != "", f.Open != nil, f.Design != "", f.Unknown != ""} {
		if set {
			states++
		}
	}
	switch {
	case states != 1:
		out = append(out, "fixed requires one of release, open, design and unknown")
	case f.Release != "" && !link.MatchString(f.Commit):
		out = append(out, "fixed.release requires commit, a link")
	case f.Open != nil && (f.Open.Version == "" || !day.MatchString(f.Open.Date)):
		out = append(out, "fixed.open requires version and date")
	}
	return out
}
