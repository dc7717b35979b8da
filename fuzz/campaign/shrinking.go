package campaign

import (
	"context"
	"fmt"

	"ipamsim/fuzz/finding"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// small turns a failing run into a finding.
func small(_ context.Context, _ *scenarios.Runner, sc *scenarios.Scenario, rep *reports.Report, v *model.Violation, h hit) (*finding.Finding, error) {
	text, err := sc.Finding(rep)
	if err != nil {
		return nil, err
	}
	return &finding.Finding{
		Fingerprint: digest([]byte(h.Signature)), Invariant: v.Invariant, Severity: v.Severity, Upstream: rep.Upstream,
		Sentence: fmt.Sprintf("%s: %s", v.Invariant, v.Message), Faults: h.Faults, Steps: len(rep.Trace.Steps), YAML: text,
	}, nil
}
