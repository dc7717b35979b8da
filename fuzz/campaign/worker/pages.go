package worker

import (
	"bytes"
	"context"

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/linear"
	"ipamsim/reports"
	"ipamsim/reports/page"
	"ipamsim/reports/record"
	"ipamsim/scenarios"
)

// Pages replays the file of a finding and draws the pages that are to lie beside it,
// by name. A file that does not replay has none: its shrinker has seen it replay, so
// this is a machine in trouble.
func Pages(ctx context.Context, r *scenarios.Runner, f *finding.Finding) (map[string][]byte, error) {
	s, err := f.Scenario()
	if err != nil {
		return nil, nil
	}
	rep, err := r.Run(ctx, s, scenarios.Options{Recorded: true, Recording: true})
	if err != nil {
		return nil, nil
	}
	pages, err := history(s, rep, f)
	if err != nil {
		return nil, err
	}
	if v := f.In(rep); v != nil {
		pages[finding.IssueFile(f.Fingerprint)] = f.Issue(rep, v)
	}
	var b bytes.Buffer
	err = page.Write(&b, record.Of(rep))
	pages[finding.PageFile(f.Fingerprint)] = b.Bytes()
	if f.Real.YAML != nil {
		pages[finding.RealFile(f.Fingerprint)] = f.Real.YAML
	}
	return pages, err
}

// history shows that no order of a finding's ADDs and DELs explains what they
// returned. There is no page if there is such an order, or if nobody knows.
func history(s *scenarios.Scenario, rep *reports.Report, f *finding.Finding) (map[string][]byte, error) {
	pages := map[string][]byte{}
	r := linear.Check(rep.History, s.Policies(), linear.Patience)
	if r.Verdict != linear.NotLinearizable {
		return pages, nil
	}
	var b bytes.Buffer
	err := r.Page(&b, f.Invariant+" "+f.Fingerprint)
	pages[finding.HistoryFile(f.Fingerprint)] = b.Bytes()
	return pages, err
}
