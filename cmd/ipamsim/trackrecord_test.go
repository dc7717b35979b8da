package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/cli"
	"ipamsim/cmd/managers"
	"ipamsim/model/invariant"
	"ipamsim/reports/trackrecord"
)

var findings = flag.Bool("findings", false, "run the command of every row of the track record")

// row is one line of the track record, with its component's name and release.
type row struct {
	trackrecord.Row
	upstream string
}

// trackRecord returns the rows of reports/trackrecord.
func trackRecord(t *testing.T) (out []row) {
	t.Helper()
	all, err := trackrecord.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		for _, r := range c.Rows {
			out = append(out, row{r, c.Upstream(r)})
		}
	}
	return out
}

// Every row names an upstream version that this build has, invariants that exist
// and a scenario that expects them.
func TestTrackRecord(t *testing.T) {
	rows := trackRecord(t)
	if len(rows) < 40 {
		t.Fatalf("%d rows: the tables have another form than this test reads", len(rows))
	}
	var known []string
	for _, inv := range invariant.All() {
		known = append(known, inv.Name)
	}
	for _, r := range rows {
		s, err := managers.All().Load(filepath.Join("..", "..", "scenarios", r.Scenario+".yaml"))
		if err != nil {
			t.Errorf("%s: %v", r.Scenario, err)
			continue
		}
		if ok := strings.HasPrefix(r.upstream, s.Doc.Spec.IPAM+" "); !ok {
			t.Errorf("%s: upstream %q, but it is of %s", r.Scenario, r.upstream, s.Doc.Spec.IPAM)
		}
		if r.Last != "" {
			if s.Doc.Spec.Expect == nil || s.Doc.Spec.Expect.Fixed == "" {
				t.Errorf("%s: last seen with %s, but the scenario has no expect.fixed", r.Scenario, r.Last)
			}
		} else if !ranOn(r.upstream, s.Manager().Upstream) {
			t.Errorf("%s: upstream %q, but it runs %s", r.Scenario, r.upstream, s.Manager().Upstream)
		}
		for _, name := range r.Violated {
			switch {
			case !slices.Contains(known, name):
				t.Errorf("%s: no invariant %q", r.Scenario, name)
			case s.Doc.Spec.Expect == nil || !slices.Contains(s.Doc.Spec.Expect.Violations, name):
				t.Errorf("%s: it does not expect %s", r.Scenario, name)
			}
		}
		if d := s.Doc.Spec.Datastore; d != "" && !strings.Contains(r.Datastore, d) {
			t.Errorf("%s: datastore %q, but it runs on %s", r.Scenario, r.Datastore, d)
		}
	}
}

// ranOn reports whether a row's manager and version, "services 1.34.1", are the code that
// ran, "k8s.io/kubernetes@v1.37.2": a module need not be called as its manager is.
func ranOn(row, upstream string) bool {
	name, version, _ := strings.Cut(row, " ")
	m := managers.All().Find(name)
	return m != nil && upstream == m.Upstream && strings.Contains(upstream, "@v"+version)
}

// make findings: every command of the track record does what its row says. One whose failure
// has ended with this release shows that it has.
func TestFindings(t *testing.T) {
	if !*findings {
		t.Skip("SKIPPED: make findings")
	}
	t.Chdir("../..")
	t.Setenv("TMPDIR", t.TempDir())
	rows := trackRecord(t)
	for i, r := range rows {
		var stdout, stderr bytes.Buffer
		code := cli.Run(append(strings.Fields(r.Command())[1:], "--json", "-"), &stdout, &stderr, managers.All()...)
		var got []string
		for line := range strings.Lines(stdout.String()) {
			var run struct {
				Upstream   string
				Violations []struct{ Invariant string }
			}
			if err := json.Unmarshal([]byte(line), &run); err != nil {
				t.Fatalf("%s: %v in %s", r.Scenario, err, line)
			}
			if r.Last == "" && !ranOn(r.upstream, run.Upstream) {
				t.Errorf("%s: ran on %s, the row is about %s", r.Scenario, run.Upstream, r.upstream)
			}
			for _, v := range run.Violations {
				got = append(got, v.Invariant)
			}
		}
		state := "reproduced"
		for _, name := range r.Violated {
			if r.Last == "" && !slices.Contains(got, name) {
				state = "NOT REPRODUCED: no " + name
			}
			if r.Last != "" && slices.Contains(got, name) {
				state = "NOT FIXED: " + name
			}
		}
		if code != 0 {
			state = "NOT REPRODUCED: " + strings.TrimSpace(stderr.String())
		}
		t.Logf("%2d/%d %s: %s (%s)", i+1, len(rows), state, r.Command(), strings.Join(r.Violated, ", "))
		if state != "reproduced" {
			t.Fail()
		}
	}
}
