package formats

import (
	"bytes"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/storytest"
	"ipamsim/reports/timeline"
)

// TestHostileNames: a scenario is an untrusted file, a terminal obeys what it
// is sent, and a timeline is pasted into reports.
func TestHostileNames(t *testing.T) {
	evil := "a\x1b[2J\x1b]0;owned\x07\r\n\u202egnp.exe\xff\u200b"
	r := storytest.Issue162()
	r.Scenario, r.Title, r.Story, r.File, r.Strategy, r.Reason, r.Upstream = evil, evil, evil, evil, evil, evil, evil
	r.Exact, r.Expected = true, []string{evil}
	v := &r.Violations[0]
	v.Message, v.Objects = evil, append(v.Objects, model.Ref{Kind: model.RefPod, Name: evil}, model.Ref{Kind: model.RefAddress, Name: evil})
	for _, s := range r.Trace.Steps {
		s.Choice.Op.Actor += "/x\x1b[31m"
		s.Choice.Op.Key += evil
		s.Note += evil
	}
	for i := range r.History.Events {
		e := &r.History.Events[i]
		e.Text, e.Err, e.Actor, e.Node = evil, evil, e.Actor+evil, e.Node+evil
	}
	var sum reports.Summary
	sum.Add(r)
	var trace bytes.Buffer
	if err := Trace(&trace, r); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"line": reports.Line(r), "timeline": timeline.Of(r, v), "golden": Golden(r), "summary": sum.Table(), "trace": trace.String(),
	} {
		for _, c := range strings.ReplaceAll(text, "\n", " ") {
			if reports.Clean(string(c)) != string(c) {
				t.Errorf("%s lets %q through", name, c)
			}
		}
	}
	if strings.Contains(reports.Line(r), "\n") {
		t.Error("a line is more than one line")
	}
}
