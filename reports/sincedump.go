package reports

import (
	"fmt"
	"strings"

	"ipamsim/model"
	"ipamsim/reports/layout"
)

// SinceDump says first what is new in a run that begins with an imported cluster: the
// violations that were not there when it was read, a line each, at most a few; then how
// many of those that were there were seen again, and which were no more at the end. It is "" for a
// scenario that was not imported.
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
	return b.String()
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
