package reports

import (
	"fmt"
	"strings"

	"ipamsim/model"
	"ipamsim/reports/layout"
)

// Also lists the violations of a run other than shown, one line each, at most alsoMax. It omits
// those that an imported cluster had before the run.
func Also(r *Report, shown *model.Violation) string {
	var b strings.Builder
	n, known := 0, model.Know(r.Found)
	for i := range r.Violations {
		v := &r.Violations[i]
		if v == shown || known.Has(v) {
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
