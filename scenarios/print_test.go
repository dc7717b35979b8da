package scenarios_test

import (
	"testing"

	"pgregory.net/rapid"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/cluster/action"
)

// Any text comes back from a printed scenario as it was, in any place.
func TestPrintAnyText(t *testing.T) {
	word := rapid.SampledFrom([]string{
		"a", "yes", "on", "n", "null", "~", "true", "010", "0x1f", "0o17", "1_000", "1e3", ".inf", "-", "- ", ": ", " #", "#", "\n", "\n\n", " ", "  ",
		"\t", "'", "\"", "\\", "|", ">", "&a", "*a", "!!str", "%", "@", "`", "{", "}", "[", "]", ",", "?", "---", "...", "<<", "=",
		"2021-11-06", "12:30", "\u00e9", "\u2026", "\U0001f600", "\r", "\x01", "\x7f", "\u0085", "\u2028", "\ufeff", "\ufffd",
	})
	text := rapid.Custom(func(t *rapid.T) string {
		s := ""
		for _, w := range rapid.SliceOfN(word, 0, 6).Draw(t, "words") {
			s += w
		}
		return s
	})
	base := good(t, "everything")
	rapid.Check(t, func(t *rapid.T) {
		s := *base
		s.Doc.Spec.Title, s.Doc.Spec.Story = text.Draw(t, "title"), text.Draw(t, "story")
		s.Doc.Spec.Timeline = append([]scenarios.Event(nil), base.Doc.Spec.Timeline...)
		for i, e := range s.Doc.Spec.Timeline {
			if patch, ok := e.Action.(*action.Patch); ok && patch.Merge != nil {
				p := *patch
				p.Merge = map[string]any{text.Draw(t, "key"): text.Draw(t, "value"), "list": []any{text.Draw(t, "item"), nil, 1.5, true}}
				s.Doc.Spec.Timeline[i].Action = &p
			}
		}
		out, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := managers.All().Parse("any.yaml", out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if !equal(&s, again) {
			t.Fatalf("it changes:\n%s", out)
		}
	})
}

// A finding is the scenario and its recorded run, and expects what was seen.
func TestFinding(t *testing.T) {
	s := good(t, "seed-003")
	rep := &reports.Report{
		Upstream: "whereabouts@v0.9.4", Digest: "0123456789abcdef", Seed: 7, Strategy: "random", Trace: &sim.Trace{},
		Violations: []model.Violation{{Invariant: "unbacked-sandbox"}, {Invariant: "duplicate-address"}, {Invariant: "duplicate-address"}},
	}
	text, err := s.Finding(rep)
	if err != nil {
		t.Fatal(err)
	}
	f, err := managers.All().Parse("finding.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got := f.Doc.Spec.Schedule; got == nil || got.Seed != 7 || got.Digest != rep.Digest || got.Upstream != rep.Upstream {
		t.Errorf("schedule %+v", got)
	}
	if got := f.Doc.Spec.Expect; got == nil || len(got.Violations) != 2 || got.Violations[0] != "duplicate-address" {
		t.Errorf("expect %+v", got)
	}
	if f.Doc.Spec.Strategy != "random" {
		t.Errorf("strategy %q", f.Doc.Spec.Strategy)
	}
	if s.Doc.Spec.Schedule != nil || s.Doc.Spec.Expect != nil {
		t.Error("the scenario itself has changed")
	}
	if _, err := s.Finding(&reports.Report{}); err == nil {
		t.Error("a report without a trace makes a finding")
	}
}
