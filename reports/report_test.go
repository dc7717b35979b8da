package reports

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/model"
)

func TestExpectation(t *testing.T) {
	for _, c := range []struct {
		name                string
		verdict             Verdict
		broken              []string
		expected, allowed   []string
		exact               bool
		ok                  bool
		unexpected, missing []string
	}{
		{name: "nothing said, nothing broken", verdict: Pass, exact: true, ok: true},
		{name: "nothing said", verdict: Fail, broken: []string{"b", "a", "b"}, exact: true, unexpected: []string{"a", "b"}},
		{name: "expected", verdict: Fail, broken: []string{"a"}, expected: []string{"a"}, exact: true, ok: true},
		{name: "expected and more", verdict: Fail, broken: []string{"a", "b"}, expected: []string{"a"}, exact: true, unexpected: []string{"b"}},
		{name: "allowed", verdict: Fail, broken: []string{"b"}, allowed: []string{"b"}, exact: true, ok: true},
		{name: "allowed did not happen", verdict: Pass, allowed: []string{"b"}, exact: true, ok: true},
		{name: "missing", verdict: Pass, expected: []string{"b", "a"}, exact: true, missing: []string{"a", "b"}},
		{name: "missing with another seed", verdict: Pass, expected: []string{"a"}, ok: true},
		{name: "unknown", verdict: Unknown, exact: true},
		{name: "unknown, all expected", verdict: Unknown, broken: []string{"a"}, expected: []string{"a"}, exact: true},
	} {
		r := &Report{Verdict: c.verdict, Expected: c.expected, Allowed: c.allowed, Exact: c.exact, Explicit: true}
		for _, name := range c.broken {
			r.Violations = append(r.Violations, model.Violation{Invariant: name})
		}
		if r.AsExpected() != c.ok {
			t.Errorf("%s: as expected = %v, want %v", c.name, r.AsExpected(), c.ok)
		}
		if d := cmp.Diff(c.unexpected, r.Unexpected()); d != "" {
			t.Errorf("%s: unexpected: %s", c.name, d)
		}
		if d := cmp.Diff(c.missing, r.Missing()); d != "" {
			t.Errorf("%s: missing: %s", c.name, d)
		}
	}
}

func TestGravest(t *testing.T) {
	r := &Report{Violations: []model.Violation{
		{Invariant: "leak", Severity: model.Minor}, {Invariant: "bad", Severity: model.Critical, Step: 5},
		{Invariant: "bad", Severity: model.Critical, Step: 9}, {Invariant: "soon", Severity: model.Major},
	}}
	if v := r.Gravest(); v.Invariant != "bad" || v.Step != 5 {
		t.Errorf("gravest is %s at step %d, want the first critical one", v.Invariant, v.Step)
	}
	r.Expected = []string{"bad", "soon"}
	if v := r.Gravest(); v.Invariant != "leak" {
		t.Errorf("gravest is %s, want the one that was not expected", v.Invariant)
	}
}

func TestCommand(t *testing.T) {
	for want, r := range map[string]*Report{
		"ipamsim run a/b.yaml --seed 3":                                       {File: "a/b.yaml", Seed: 3, Exact: true, Strategy: "timed"},
		"ipamsim run b.yaml --seed 3 --strategy random":                       {Scenario: "b", Seed: 3, Strategy: "random"},
		"ipamsim run b.yaml --seed 3 --strategy timed --datastore kubernetes": {Scenario: "b", Seed: 3, Strategy: "timed", Datastore: "kubernetes"},
		"ipamsim replay 'my file.yaml'":                                       {File: "my file.yaml", Strategy: "replay"},
		`ipamsim run 'it'\''s; rm -rf.yaml' --seed 0 --strategy 'pct 3'`:      {File: "it's; rm -rf.yaml", Strategy: "pct 3"},
	} {
		if got := r.Command(); got != want {
			t.Errorf("command %s, want %s", got, want)
		}
	}
}
