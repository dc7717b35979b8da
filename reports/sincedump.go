package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/reports/layout"
)

// SinceDump says first what is new in a run that begins with an imported cluster: the
// violations that were not there when it was read, a line each, at most a few; then how
// many of those that were there were seen again, which were no more at the end, and which pods wait
// for an address. It is "" for a scenario that was not imported.
func SinceDump(r *Report) string {
	if !r.Imported() {
		return ""
	}
	var b strings.Builder
	news := r.News()
	switch {
	case len(news) > 0:
		fmt.Fprintf(&b, "new since the dump: %s\n", r.severities(news))
	case r.Verdict == Unknown:
		b.WriteString("new since the dump: nothing so far, and the run did not get to its end\n")
	default:
		b.WriteString("new since the dump: nothing\n")
	}
	for n, i := range news {
		if n == sinceMax {
			fmt.Fprintf(&b, "   and %d more\n", len(news)-n)
			break
		}
		fmt.Fprintf(&b, "   new: %s\n", layout.Cut(headline(&r.Violations[i]), layout.Width-9))
	}
	if n := len(r.Violations) - len(news); n > 0 {
		fmt.Fprintf(&b, "in the dump already: %s\n", layout.Plural(n, "violation"))
	}
	gone := r.Gone()
	for n, i := range gone {
		if n == sinceMax {
			fmt.Fprintf(&b, "   and %d more\n", len(gone)-n)
			break
		}
		fmt.Fprintf(&b, "no more at the end: %s\n", layout.Cut(subjectLine(i.Invariant, i.Objects), layout.Width-20))
	}
	b.WriteString(refusedAtEnd(r.History))
	return b.String()
}

// refusedAtEnd names the pods whose last ADD of a run failed, with the error of the first one.
func refusedAtEnd(h *model.History) string {
	if h == nil {
		return ""
	}
	refused := map[string]string{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != model.AddEnd || refused[e.Pod.String()] != "" {
			continue
		}
		if end, failed := h.Added(e.Pod); failed > 0 {
			refused[e.Pod.String()] = end.Err
		}
	}
	pods := slices.Sorted(maps.Keys(refused))
	if len(pods) == 0 {
		return ""
	}
	line := fmt.Sprintf("the last ADD failed of %s, of %s with: %s", layout.Plural(len(pods), "pod"), pods[0], refused[pods[0]])
	return layout.Cut(Clean(line), 2*layout.Width) + "\n"
}

const sinceMax = 5

// severities counts violations by severity, the worst first: 2 critical, 1 minor.
func (r *Report) severities(which []int) string {
	var out []string
	for _, s := range model.Severities {
		n := 0
		for _, i := range which {
			if r.Violations[i].Severity == s {
				n++
			}
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(out, ", ")
}
