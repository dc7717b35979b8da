package reports

import (
	"fmt"
	"strings"

	"ipamsim/model"
	"ipamsim/reports/layout"
)

// Also names the other violations of a run, where one has been told in full: a
// line each, at most a few. What was in an imported cluster before is none of them.
func Also(r *Report, told *model.Violation) string {
	var b strings.Builder
	n, known := 0, model.Know(r.Found)
	for i := range r.Violations {
		v := &r.Violations[i]
		if v == told || known.Has(v) {
			continue
		}
		if n++; n <= alsoMax {
			fmt.Fprintf(&b, "   also: %s\n", layout.Cut(headline(v), layout.Width-9))
		}
	}
	if n > alsoMax {
		fmt.Fprintf(&b, "   and %d more\n", n-alsoMax)
	}
	return b.String()
}

const alsoMax = 5
