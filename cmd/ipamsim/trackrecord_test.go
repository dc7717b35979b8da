package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ipamsim/model/invariant"
	"ipamsim/scenarios"
)

var findings = flag.Bool("findings", false, "run the command of every row of the track record")

// row is one line of the track record.
type row struct{ what, upstream, violated, known, command string }

// trackRecord reads the tables of reports/README.md, which file is.
func trackRecord(t *testing.T, file string) []row {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []row
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") || !strings.Contains(line, "`ipamsim ") {
			continue
		}
		c := strings.Split(strings.Trim(line, "| "), " | ")
		if len(c) != 5 {
			t.Fatalf("a row of %d columns, want what, upstream, violated, known as, command: %s", len(c), line)
		}
		out = append(out, row{c[0], c[1], c[2], c[3], strings.Trim(c[4], "`")})
	}
	return out
}

// invariants are those that the third column names; none if it says so in brackets.
func (r row) invariants() []string {
	if strings.HasPrefix(r.violated, "(") {
		return nil
	}
	return strings.Split(r.violated, ", ")
}

var rowCommand = regexp.MustCompile(`^ipamsim (run|replay) ([a-z0-9/.-]+\.yaml)$`)

// Every row names an upstream version that this build has, invariants that exist
// and a scenario that expects them.
func TestTrackRecord(t *testing.T) {
	rows := trackRecord(t, "../../reports/README.md")
	if len(rows) < 40 {
		t.Fatalf("%d rows: the tables have another form than this test reads", len(rows))
	}
	var known []string
	for _, inv := range invariant.All() {
		known = append(known, inv.Name)
	}
	for _, r := range rows {
		m := rowCommand.FindStringSubmatch(r.command)
		if m == nil {
			t.Errorf("%s: command %q is neither ipamsim run FILE nor ipamsim replay FILE", r.what, r.command)
			continue
		}
		s, err := scenarios.Load(filepath.Join("..", "..", m[2]))
		if err != nil {
			t.Errorf("%s: %v", r.what, err)
			continue
		}
		if ok := strings.HasPrefix(r.upstream, s.Doc.Spec.IPAM+" "); !ok {
			t.Errorf("%s: upstream %q, but %s is of %s", r.what, r.upstream, m[2], s.Doc.Spec.IPAM)
		}
		for _, name := range r.invariants() {
			switch {
			case !slices.Contains(known, name):
				t.Errorf("%s: no invariant %q", r.what, name)
			case s.Doc.Spec.Expect == nil || !slices.Contains(s.Doc.Spec.Expect.Violations, name):
				t.Errorf("%s: %s does not expect %s", r.what, m[2], name)
			}
		}
	}
}

// make findings: every command of the track record does what its row says.
func TestFindings(t *testing.T) {
	if !*findings {
		t.Skip("SKIPPED: make findings")
	}
	t.Chdir("../..")
	t.Setenv("TMPDIR", t.TempDir())
	rows := trackRecord(t, "reports/README.md")
	for i, r := range rows {
		var stdout, stderr bytes.Buffer
		code := command(append(strings.Fields(r.command)[1:], "--json", "-"), &stdout, &stderr)
		var got []string
		for line := range strings.Lines(stdout.String()) {
			var run struct {
				Upstream   string
				Violations []struct{ Invariant string }
			}
			if err := json.Unmarshal([]byte(line), &run); err != nil {
				t.Fatalf("%s: %v in %s", r.command, err, line)
			}
			if name, version, _ := strings.Cut(r.upstream, " "); !strings.Contains(run.Upstream, name) || !strings.Contains(run.Upstream, version) {
				t.Errorf("%s: ran on %s, the row is about %s", r.command, run.Upstream, r.upstream)
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
		if code != exitExpected {
			state = "NOT REPRODUCED: " + strings.TrimSpace(stderr.String())
		}
		t.Logf("%2d/%d %s: %s (%s)", i+1, len(rows), state, r.command, r.violated)
		if state != "reproduced" {
			t.Fail()
		}
	}
}
