package formats

import (
	"fmt"
	"strings"

	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/reports/timeline"
)

// Golden renders the golden file of a scenario's run: the description, the verdict, the output of
// commands, the metrics, and a timeline for the first violation of each invariant. It contains no
// wall time and no digest, which differ between machines and builds, so a changed golden means
// changed behaviour.
func Golden(r *reports.Report) string {
	var b strings.Builder
	title := reports.Clean(r.Scenario)
	if r.Title != "" {
		title += ": " + reports.Clean(r.Title)
	}
	b.WriteString(strings.Join(layout.Wrap(title, proseWidth), "\n") + "\n")
	for _, paragraph := range strings.Split(strings.TrimSpace(r.Story), "\n\n") {
		if words := strings.Join(strings.Fields(paragraph), " "); words != "" {
			b.WriteString("\n" + strings.Join(layout.Wrap(reports.Clean(words), proseWidth), "\n") + "\n")
		}
	}
	fmt.Fprintf(&b, "\n%s, seed %d, %s: %s, %s of virtual time\n",
		reports.Clean(upstream(r)), r.Seed, reports.Clean(r.Strategy), layout.Plural(r.Steps(), "step"), layout.Clock(r.Virtual))
	verdict := string(r.Verdict)
	for _, why := range []string{r.Expectation(), reports.Clean(r.Reason)} {
		if why != "" {
			verdict += ", " + why
		}
	}
	fmt.Fprintf(&b, "verdict: %s\n", verdict)
	for i, v := range r.Violations {
		if i == listedMax {
			fmt.Fprintf(&b, "- and %d more\n", len(r.Violations)-i)
			break
		}
		text := fmt.Sprintf("%s (%s) at %s, step %d: %s", v.Invariant, v.Severity, layout.Clock(v.At), v.Step, reports.Clean(v.Message))
		b.WriteString("- " + strings.Join(layout.Wrap(text, proseWidth-2), "\n  ") + "\n")
	}
	for _, section := range []string{reports.Screens(r), Metrics(r)} {
		if section != "" {
			b.WriteString("\n" + section)
		}
	}
	seen := map[string]bool{}
	for i := range r.Violations {
		if v := &r.Violations[i]; !seen[v.Invariant] {
			seen[v.Invariant] = true
			b.WriteString("\n" + timeline.Of(r, v))
		}
	}
	return b.String()
}

const (
	proseWidth = 100
	listedMax  = 20 // a scenario may violate one invariant for each of many pods
)

// upstream returns the version that ran, and its datastore if it has a choice.
func upstream(r *reports.Report) string {
	if r.Datastore == "" {
		return r.Upstream
	}
	return r.Upstream + " on " + r.Datastore
}
