package cli

import (
	"fmt"
	"io"

	"ipamsim/fuzz/linear"
	"ipamsim/reports"
	"ipamsim/reports/formats"
	"ipamsim/scenarios"
)

const historyUsage = "write the history of address assignments to `F` as an HTML page: which order of operations explains it, if any"

// historyOf writes the page of a run of s.
func historyOf(s *scenarios.Scenario) formats.Format {
	return func(w io.Writer, r *reports.Report) error {
		h := linear.Check(r.History, s.Policies(), linear.Patience)
		return h.Page(w, fmt.Sprintf("%s, seed %d: %s", r.Scenario, r.Seed, h.Verdict))
	}
}
