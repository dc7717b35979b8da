package reports_test

import (
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/reports"
)

// A run of a cluster whose range is full breaks nothing. It says which pods wait, and why: a pod
// that got its address at the second try is not among them.
func TestSinceDumpNamesRefusedPods(t *testing.T) {
	end := func(pod, err string) model.Event {
		return model.Event{Kind: model.AddEnd, Pod: model.PodRef{Namespace: "edge", Name: pod}, Err: err}
	}
	h := &model.History{}
	for _, e := range []model.Event{end("served", "full"), end("w-0", "full: \x1b[2J10.0.0.0/30"), end("served", ""), end("w-1", "full"), end("w-1", "full")} {
		h.Add(e)
	}
	r := &reports.Report{Verdict: reports.Pass, Found: []model.Identity{}, History: h}
	got := reports.SinceDump(r)
	want := "new since the dump: nothing\nthe last ADD failed of 2 pods, of edge/w-0 with: full: "
	if !strings.HasPrefix(got, want) || strings.Contains(got, "\x1b") {
		t.Errorf("%q, want %q…", got, want)
	}
	r.History = &model.History{}
	if got := reports.SinceDump(r); got != "new since the dump: nothing\n" {
		t.Errorf("%q", got)
	}
}
