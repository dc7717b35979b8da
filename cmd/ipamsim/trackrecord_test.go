package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/cli"
	"ipamsim/cmd/managers"
	"ipamsim/model/invariant"
	"ipamsim/reports"
)

var findings = flag.Bool("findings", false, "run the command of every row of the track record")

// row is one line of the track record.
type row struct{ reports.Track }

// trackRecord reads the tables of reports/README.md.
func trackRecord(t *testing.T) []row {
	t.Helper()
	all, err := reports.TrackRecord()
	if err != nil {
		t.Fatal(err)
	}
	var out []row
	for _, r := range all {
		out = append(out, row{r})
	}
	return out
}

// invariants are those that the third column names; none if it says so in brackets.
func (r row) invariants() []string {
	if strings.HasPrefix(r.Violated, "(") {
		return nil
	}
	return strings.Split(r.Violated, ", ")
}

var rowCommand = regexp.MustCompile(`^ipamsim (run|replay) ([a-z0-9/.-]+\.yaml)$`)

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
		m := rowCommand.FindStringSubmatch(r.Command)
		if m == nil {
			t.Errorf("%s: command %q is neither ipamsim run FILE nor ipamsim replay FILE", r.What, r.Command)
			continue
		}
		s, err := managers.All().Load(filepath.Join("..", "..", m[2]))
		if err != nil {
			t.Errorf("%s: %v", r.What, err)
			continue
		}
		if ok := strings.HasPrefix(r.Upstream, s.Doc.Spec.IPAM+" "); !ok {
			t.Errorf("%s: upstream %q, but %s is of %s", r.What, r.Upstream, m[2], s.Doc.Spec.IPAM)
		}
		if !ranOn(r.Upstream, s.Manager().Upstream) {
			t.Errorf("%s: upstream %q, but %s runs %s", r.What, r.Upstream, m[2], s.Manager().Upstream)
		}
		for _, name := range r.invariants() {
			switch {
			case !slices.Contains(known, name):
				t.Errorf("%s: no invariant %q", r.What, name)
			case s.Doc.Spec.Expect == nil || !slices.Contains(s.Doc.Spec.Expect.Violations, name):
				t.Errorf("%s: %s does not expect %s", r.What, m[2], name)
			}
		}
	}
}

// ranOn reports whether a row's manager and version, "services 1.34.1", are the code that
// ran, "k8s.io/kubernetes@v1.34.1": a module need not be called as its manager is.
func ranOn(row, upstream string) bool {
	name, version, _ := strings.Cut(row, " ")
	version, _, _ = strings.Cut(version, ",") // and what else has to do with it
	m := managers.All().Find(name)
	return m != nil && upstream == m.Upstream && strings.Contains(upstream, "@v"+version)
}

// make findings: every command of the track record does what its row says.
func TestFindings(t *testing.T) {
	if !*findings {
		t.Skip("SKIPPED: make findings")
	}
	t.Chdir("../..")
	t.Setenv("TMPDIR", t.TempDir())
	rows := trackRecord(t)
	for i, r := range rows {
		var stdout, stderr bytes.Buffer
		code := cli.Run(append(strings.Fields(r.Command)[1:], "--json", "-"), &stdout, &stderr, managers.All()...)
		var got []string
		for line := range strings.Lines(stdout.String()) {
			var run struct {
				Upstream   string
				Violations []struct{ Invariant string }
			}
			if err := json.Unmarshal([]byte(line), &run); err != nil {
				t.Fatalf("%s: %v in %s", r.Command, err, line)
			}
			if !ranOn(r.Upstream, run.Upstream) {
				t.Errorf("%s: ran on %s, the row is about %s", r.Command, run.Upstream, r.Upstream)
			}
			for _, v := range run.Violations {
				got = append(got, v.Invariant)
			}
		}
		state := "reproduced"
		for _, name := range r.invariants() {
			if !slices.Contains(got, name) {
				state = "NOT REPRODUCED: no " + name
			}
		}
		if code != 0 {
			state = "NOT REPRODUCED: " + strings.TrimSpace(stderr.String())
		}
		t.Logf("%2d/%d %s: %s (%s)", i+1, len(rows), state, r.Command, r.Violated)
		if state != "reproduced" {
			t.Fail()
		}
	}
}
