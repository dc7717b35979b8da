package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/model"
	"ipamsim/reports/golden"
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

// TestJSONFields: other people's scripts read these names.
func TestJSONFields(t *testing.T) {
	b, err := JSON(&Report{Scenario: "x", Verdict: Pass})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsRune(b, '\n') || !strings.Contains(string(b), `"violations":[]`) {
		t.Errorf("want one line with an empty list of violations: %s", b)
	}
	fields := func(raw []byte) (names []string) {
		dec := json.NewDecoder(bytes.NewReader(raw))
		for depth := 0; dec.More(); {
			tok, err := dec.Token()
			if err != nil {
				t.Fatal(err)
			}
			if tok == json.Delim('{') && depth == 0 {
				depth++
				continue
			}
			names = append(names, fmt.Sprint(tok))
			var skip json.RawMessage
			if err := dec.Decode(&skip); err != nil {
				t.Fatal(err)
			}
		}
		return names
	}
	want := strings.Fields("scenario upstream seed strategy store verdict steps virtualSeconds wallSeconds apiCalls digest storeDigest violations")
	if got := fields(b); !slices.Equal(got[:len(want)], want) {
		t.Errorf("fields %v, want %v first", got, want)
	}
	b, _ = JSON(issue162())
	var full struct{ Violations []json.RawMessage }
	if err := json.Unmarshal(b, &full); err != nil {
		t.Fatal(err)
	}
	want = strings.Fields("invariant severity at step message objects")
	if got := fields(full.Violations[0]); !slices.Equal(got, want) {
		t.Errorf("fields of a violation %v, want %v", got, want)
	}
}

func TestTraceIsReadBack(t *testing.T) {
	r := issue162()
	var b bytes.Buffer
	for range 2 {
		if err := Trace(&b, r); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := ParseTrace(&b)
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 2 || runs[1].Seed != "1" || runs[1].Digest != r.Digest || runs[1].Scenario != r.Scenario {
		t.Fatalf("read back %d runs: %+v", len(runs), runs[len(runs)-1])
	}
	for i, s := range r.Trace.Steps {
		if got := runs[1].Steps[i].String(); got != s.String() {
			t.Errorf("step %d read back as %s, want %s", i, got, s)
		}
	}
	if _, err := ParseTrace(strings.NewReader(traceHead + "\nnonsense\n")); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
		t.Errorf("error %v, want one that names line 2", err)
	}
}

// TestHostileNames: a scenario is somebody else's file, a terminal obeys what it
// is sent, and a timeline is pasted into reports.
func TestHostileNames(t *testing.T) {
	evil := "a\x1b[2J\x1b]0;owned\x07\r\n\u202egnp.exe\xff\u200b"
	r := issue162()
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
	var sum Summary
	sum.Add(r)
	var trace bytes.Buffer
	if err := Trace(&trace, r); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"line": Line(r), "timeline": Timeline(r, v), "golden": Golden(r), "summary": sum.Table(), "trace": trace.String(),
	} {
		for _, c := range strings.ReplaceAll(text, "\n", " ") {
			if Clean(string(c)) != string(c) {
				t.Errorf("%s lets %q through", name, c)
			}
		}
	}
	if strings.Contains(Line(r), "\n") {
		t.Error("a line is more than one line")
	}
}

func TestSummary(t *testing.T) {
	var s Summary
	for seed := range uint64(4) {
		r := issue162()
		r.Seed, r.Exact, r.Expected = seed, false, []string{"duplicate-address"}
		if seed == 3 {
			r.Verdict, r.Violations = Pass, nil
		}
		if seed == 2 {
			r.Violations = append(r.Violations, model.Violation{Invariant: "stuck"})
		}
		s.Add(r)
	}
	s.Add(&Report{Scenario: "other", Verdict: Unknown, Exact: true})
	if s.Runs != 5 || s.AsExpected != 3 || s.Violations != 4 {
		t.Errorf("counted %+v", s)
	}
	golden.Check(t, "testdata/summary.txt", s.Table())
}

// Scenarios that ran as often as each other are compared; others are not.
func TestSideBySide(t *testing.T) {
	var s Summary
	for seed := range uint64(3) {
		for _, name := range []string{"address-in-status", "pod-exists"} {
			r := issue162()
			r.Scenario, r.Seed = name, seed
			if name == "pod-exists" {
				r.Violations = []model.Violation{{Invariant: "leaked-claim"}, {Invariant: "leaked-claim"}}
			} else if seed == 0 {
				r.Verdict, r.Violations = Pass, nil
			}
			s.Add(r)
			if seed == 0 && s.SideBySide() != "" {
				t.Errorf("one run is compared:\n%s", s.SideBySide())
			}
		}
	}
	want := `scenario           runs  duplicate-address  leaked-claim
address-in-status     3                  2             0
pod-exists            3                  0             3
`
	if got := s.SideBySide(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if s.Add(&Report{Scenario: "other"}); s.SideBySide() != "" {
		t.Errorf("compared with one run of another:\n%s", s.SideBySide())
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

func ExampleLine() {
	fmt.Println(Line(issue162()))
	fmt.Println(Line(&Report{Scenario: "quiet", Seed: 2, Strategy: "random", Verdict: Pass}))
	fmt.Println(Line(&Report{Scenario: "slow", Seed: 3, Strategy: "pct", Verdict: Unknown, Reason: "step limit reached"}))
	// Output:
	// FAIL    r1-whereabouts-162 seed 1 timed  duplicate-address 10.128.40.47 default/web-2 default/web-3 at 1m2.068s (step 93)  0.41 s
	// pass    quiet seed 2 random  0.00 s
	// unknown slow seed 3 pct  step limit reached  0.00 s
}
