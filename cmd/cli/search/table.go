package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ipamsim/fuzz/campaign"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/space"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/reports/table"
)

// campaignTable is what a campaign came to: a row for each finding in the order in
// which they were first seen, then what else is to be known.
func campaignTable(o *campaign.Outcome) string {
	var b strings.Builder
	rough := slices.IndexFunc(o.Rows, func(r campaign.Row) bool { return r.Rough })
	if rough < 0 {
		rough = len(o.Rows)
	}
	seen, unseen := []campaign.Row{}, []campaign.Row{}
	for _, r := range o.Rows[:rough] {
		if r.Real.Verdict == finding.NotConfirmed {
			unseen = append(unseen, r)
		} else {
			seen = append(seen, r)
		}
	}
	findingRows(&b, seen)
	if len(unseen) > 0 {
		fmt.Fprintf(&b, "not reproduced with Kubernetes' own controllers; some may depend on the simple controllers:\n")
		findingRows(&b, unseen)
	}
	if rough < len(o.Rows) {
		fmt.Fprintf(&b, "not shrunk in time, kept as recorded; some may have the same cause as a finding above:\n")
		findingRows(&b, o.Rows[rough:])
	}
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	found := layout.Plural(len(o.Rows), "finding")
	if n := len(o.Rows) - rough; n > 0 {
		found += fmt.Sprintf(" (%d as recorded)", n)
	}
	if rough > 0 {
		say("%s", labels(o.Rows[:rough]))
	}
	say("%s in %s, %s; %d states, %d pairs of conflicting operations; mutants: %d of %d detected",
		layout.Plural(int(o.Runs), "run"), o.Elapsed.Round(100*time.Millisecond), found, o.States, o.Pairs, o.Caught, o.Canaries)
	if w := o.Worlds; w.Worlds > 0 {
		var lacking []string
		for _, d := range space.Classes() {
			lacking = append(lacking, fmt.Sprintf("%d without %s", w.Without[d], d))
		}
		say("of %s %s, %d without any of these", layout.Plural(int(w.Worlds), "world"), strings.Join(lacking, ", "), w.Quiet)
	}
	if o.Why != "" {
		say("ended: %s", o.Why)
	} else {
		say("interrupted; the same command continues")
	}
	if o.Open > 0 {
		say("kinds of failures not shrunk in time: %d; the same command continues", o.Open)
	}
	if o.Unkept > 0 {
		say("%d of them are not kept as recorded either", o.Unkept)
	}
	if o.Unknown > 0 {
		say("%s inconclusive: cut short by a limit", layout.Plural(int(o.Unknown), "run"))
	}
	for _, d := range o.Deaths {
		say("unconfirmed: the run of seed %d crashed once and succeeded when repeated: %s", d.Seed, reports.Clean(d.Cause))
	}
	for _, d := range o.Defects {
		say("in doubt: %s", reports.Clean(d))
	}
	if more := o.Defective - len(o.Defects); more > 0 {
		say("in doubt: %d more", more)
	}
	if t := o.Repeated.String(); t != "" {
		say("%s", t)
	}
	say("estimated share of new states in the next run: %v; %d states of allocators, %v", o.UnseenStates, o.Allocators, o.UnseenAllocators)
	return b.String()
}

// labels counts the findings by trigger, in the order of the table, and those with a cause that no
// scenario shows.
func labels(rows []campaign.Row) string {
	var parts []string
	for _, l := range cause.Triggers {
		n := 0
		for i := range rows {
			if rows[i].Cause.Trigger == l {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, l))
		}
	}
	news := 0
	for i := range rows {
		if rows[i].Known == campaign.News {
			news++
		}
	}
	summary := fmt.Sprintf("%d of %d are NEW", news, len(rows))
	if rows[0].Known == campaign.NotListed {
		summary = "known causes are not recognized: there is no list in " + known.Dir + "; --learn writes one"
	}
	return "causes: " + strings.Join(parts, ", ") + "; " + summary
}

// findingRows is a table with a row for each finding, or nothing.
func findingRows(b *strings.Builder, rows []campaign.Row) {
	if len(rows) == 0 {
		return
	}
	t := table.New("fingerprint", "invariant", "severity", "trigger", "known", "own controllers", "first in run", "after", "pods/switches/faults/steps", "count", "replay")
	for i := range rows {
		r := &rows[i]
		verb := "replay"
		if r.Died {
			verb = "run"
		}
		t.Add(r.Fingerprint, r.Invariant, string(r.Severity), string(r.Cause.Trigger), known.Short(r.Known), cmp.Or(string(r.Real.Verdict), "-"), fmt.Sprint(r.First), fmt.Sprintf("%.1fs", r.FirstAfter.Seconds()),
			fmt.Sprintf("%d/%d/%d/%d", r.Pods, r.Switches, r.Faults, r.Steps), fmt.Sprint(r.Count), "ipamsim "+verb+" "+r.File)
	}
	b.WriteString(t.Text() + "\n\n")
}
