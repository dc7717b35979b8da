package formats

import (
	"fmt"
	"io"

	"ipamsim/reports"
)

// traceHead begins the record of a run in a trace file.
const traceHead = "# ipamsim trace"

// Trace writes the schedule log of a run: comment lines that say which run it
// is, then one line for every step. Files of several runs are theirs one after
// another. sim.ParseStep reads the line of a step back.
func Trace(w io.Writer, r *reports.Report) error {
	_, err := fmt.Fprintf(w, "%s\n# scenario: %s\n# upstream: %s\n# seed: %d\n# strategy: %s\n# digest: %s\n",
		traceHead, reports.Clean(r.Scenario), reports.Clean(r.Upstream), r.Seed, reports.Clean(r.Strategy), reports.Clean(r.Digest))
	if err != nil || r.Trace == nil {
		return err
	}
	for _, s := range r.Trace.Steps {
		if _, err := io.WriteString(w, reports.Clean(s.String())+"\n"); err != nil {
			return err
		}
	}
	return nil
}
