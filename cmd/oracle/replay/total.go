package replay

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Total is what all runs had.
type Total struct {
	runs, sent, watched, events, findings int
	Refused                               int            // scenarios that did not run: see compareAll
	expired                               int            // watches that ended with error 410 here
	verbs                                 map[string]int // requests by verb
	controlled                            int            // runs with Kubernetes' own controllers
	skipped                               map[string]int // requests by the name of a difference
}

// Add a run.
func (t *Total) Add(p *Replay) {
	if t.skipped == nil {
		t.skipped, t.verbs = map[string]int{}, map[string]int{}
	}
	t.runs, t.sent, t.watched, t.events, t.findings = t.runs+1, t.sent+p.sent, t.watched+p.watched, t.events+p.events, t.findings+len(p.findings)
	if p.Controlled {
		t.controlled++
	}
	t.expired += p.expired
	for d, n := range p.skipped {
		t.skipped[d] += n
	}
	for v, n := range p.verbs {
		t.verbs[v] += n
	}
}

// Print writes the figures as Markdown.
func (t *Total) Print(to io.Writer) {
	fmt.Fprintf(to, "%d runs, %d of them with Kubernetes' own controllers: %d requests, %d of them watches with %d events; %d unexplained differences.\n", t.runs, t.controlled, t.sent, t.watched, t.events, t.findings)
	fmt.Fprintf(to, "%d watches ended with error 410 here; %d scenarios did not run: they need Kubernetes' own controllers, or the API server refuses their objects.\n", t.expired, t.Refused)
	fmt.Fprint(to, "\n| verb | requests |\n|---|---|\n")
	for _, v := range slices.SortedFunc(maps.Keys(t.verbs), func(a, b string) int { return cmp.Or(t.verbs[b]-t.verbs[a], cmp.Compare(a, b)) }) {
		fmt.Fprintf(to, "| %s | %d |\n", v, t.verbs[v])
	}
	fmt.Fprint(to, "\n| known difference | why | requests not sent |\n|---|---|---|\n")
	for _, d := range differences {
		n := ""
		if d.skips != nil {
			n = fmt.Sprint(t.skipped[d.name])
		}
		fmt.Fprintf(to, "| %s | %s | %s |\n", d.name, d.why, n)
	}
}

// Equal reports whether there were runs, and nothing differed that is not known to.
func (t *Total) Equal() bool { return t.findings == 0 && t.runs > 0 }
