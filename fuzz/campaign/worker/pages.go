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

// Pages replays the file of a finding and returns the pages to store beside it, by name. A file
// that does not replay has none. The shrinker has already replayed it, so the cause must be the
// machine.
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

// history returns a page that shows that no order of a finding's ADDs and DELs explains what they
// returned. There is no page if such an order exists or the check ran out of time.
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
