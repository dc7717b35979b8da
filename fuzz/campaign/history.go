package campaign

import (
	"bytes"
	"context"

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/linear"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// History replays the file of a finding and draws the page that is to lie beside
// it, nil if there is none: see page. A file that does not replay has none, either;
// its shrinker has seen it replay, so this is a machine in trouble.
func History(ctx context.Context, r *scenarios.Runner, f *finding.Finding) ([]byte, error) {
	s, err := scenarios.Parse(f.Fingerprint+".yaml", f.YAML)
	if err != nil {
		return nil, nil
	}
	rep, err := r.Run(ctx, s, scenarios.Options{Recorded: true})
	if err != nil {
		return nil, nil
	}
	return page(s, rep, f)
}

// page shows that no order of a finding's ADDs and DELs explains what they
// returned. It is nil if there is such an order, or if nobody knows.
func page(s *scenarios.Scenario, rep *reports.Report, f *finding.Finding) ([]byte, error) {
	r := linear.Check(rep.History, s.Policies(), linear.Patience)
	if r.Verdict != linear.NotLinearizable {
		return nil, nil
	}
	var b bytes.Buffer
	err := r.Page(&b, f.Invariant+" "+f.Fingerprint)
	return b.Bytes(), err
}
