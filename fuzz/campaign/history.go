package campaign

import (
	"bytes"
	"context"

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/linear"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// again runs the file of a finding, nil if that does not work out: its shrinker
// has seen it replay, so this is a machine in trouble.
func (c *cell) again(ctx context.Context, f *finding.Finding) (*scenarios.Scenario, *reports.Report) {
	s, err := scenarios.Parse(f.Fingerprint+".yaml", f.YAML)
	if err != nil {
		return nil, nil
	}
	rep, err := c.runner.Run(ctx, s, scenarios.Options{Recorded: true})
	if err != nil {
		return nil, nil
	}
	return s, rep
}

// page shows that no order of a finding's ADDs and DELs explains what they
// returned. It is nil if there is such an order, or if nobody knows.
func page(s *scenarios.Scenario, rep *reports.Report, f *finding.Finding) ([]byte, error) {
	if rep == nil {
		return nil, nil
	}
	r := linear.Check(rep.History, s.Policies(), linear.Patience)
	if r.Verdict != linear.NotLinearizable {
		return nil, nil
	}
	var b bytes.Buffer
	err := r.Page(&b, f.Invariant+" "+f.Fingerprint)
	return b.Bytes(), err
}
