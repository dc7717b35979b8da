package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"ipamsim/fuzz/campaign"
	"ipamsim/reports"
)

// campaignTable is what a campaign came to: a row for each finding in the order in
// which they were first seen, then what else is to be known.
func campaignTable(o *campaign.Outcome) string {
	var b strings.Builder
	if len(o.Rows) > 0 {
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "fingerprint\tinvariant\tseverity\tfirst in run\tafter\tpods/switches/faults/steps\tcount\treplay")
		for _, r := range o.Rows {
			verb := "replay"
			if r.Invariant == "stuck" || r.Invariant == "actor-crash" && r.Steps == 0 {
				verb = "run" // it takes its process along
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%.1fs\t%d/%d/%d/%d\t%d\tipamsim %s %s\n",
				r.Fingerprint, r.Invariant, r.Severity, r.First, r.FirstAfter.Seconds(),
				r.Pods, r.Switches, r.Faults, r.Steps, r.Count, verb, reports.Clean(r.File))
		}
		_ = t.Flush() // to memory
		b.WriteByte('\n')
	}
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("%s in %s, %s; %d states, %d pairs of conflicting operations; canary: %d of %d caught",
		plural(int(o.Runs), "run"), o.Elapsed.Round(100*time.Millisecond), plural(len(o.Rows), "finding"), o.States, o.Pairs, o.Caught, o.Canaries)
	if o.Why != "" {
		say("ended: %s", o.Why)
	} else {
		say("interrupted; the same command goes on")
	}
	if o.Open > 0 {
		say("kinds of failures that nobody had time to make small: %d; the same command goes on", o.Open)
	}
	if o.Unknown > 0 {
		say("%s cut short by a limit, which proves nothing", plural(int(o.Unknown), "run"))
	}
	for _, d := range o.Deaths {
		say("unconfirmed: the run of seed %d died once and not again: %s", d.Seed, reports.Clean(d.Cause))
	}
	for _, d := range o.Defects {
		say("in doubt: %s", reports.Clean(d))
	}
	if more := o.Defective - len(o.Defects); more > 0 {
		say("in doubt: %d more", more)
	}
	return b.String()
}
