package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ipamsim/cmd/cli"
	"ipamsim/cmd/managers"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
)

// familyRow is one scenario of a family: in how many runs each invariant broke.
type familyRow struct {
	file   string
	runs   int
	broken map[string]int
}

// families are the rows of the tables of reports/FAMILIES.md, which are what the command
// above each printed.
func families(t *testing.T) (out []familyRow) {
	t.Helper()
	text, err := os.ReadFile("../../reports/FAMILIES.md")
	if err != nil {
		t.Fatal(err)
	}
	var head []string
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "```":
			head = nil
		case f[0] == "scenario":
			head = f
		case head != nil && len(f) == len(head):
			r := familyRow{file: f[0] + ".yaml", broken: map[string]int{}}
			for i, name := range head[1:] {
				n, err := strconv.Atoi(f[i+1])
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				if r.broken[name] = n; name == "runs" {
					r.runs = n
				}
			}
			out = append(out, r)
		}
	}
	return out
}

// The page has a row for each scenario of a family, and names no other.
func TestFamiliesAreListed(t *testing.T) {
	files, err := filepath.Glob("../../scenarios/families/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want, have []string
	for _, f := range files {
		want = append(want, filepath.Base(f))
	}
	for _, r := range families(t) {
		have = append(have, r.file)
	}
	slices.Sort(have)
	if !slices.Equal(have, want) || len(want) == 0 {
		t.Errorf("rows: %v\nfiles: %v", have, want)
	}
	text, err := os.ReadFile("../../reports/FAMILIES.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("`bin/ipamsim (run [^`]*)`").FindAllStringSubmatch(string(text), -1) {
		if files, err := filepath.Glob(filepath.Join("../..", strings.Fields(m[1])[1])); err != nil || len(files) == 0 {
			t.Errorf("%s: no such files: %v", m[1], err)
		}
	}
}

// A small share of the runs: what never broke does not break, and what always did does.
func TestFamilies(t *testing.T) {
	longtest.Skip(t)
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	for _, r := range families(t) {
		var stdout, stderr bytes.Buffer
		args := []string{"run", "../../scenarios/families/" + r.file, "--seeds", "1-1", "--store", "memory", "--json", "-"}
		if code := cli.Run(args, &stdout, &stderr, managers.All()...); code > 1 {
			t.Errorf("%s: %s", r.file, stderr.String())
			continue
		}
		var run struct {
			Violations []struct{ Invariant string }
		}
		if err := json.Unmarshal(stdout.Bytes(), &run); err != nil {
			t.Fatalf("%s: %v in %s", r.file, err, stdout.String())
		}
		got := map[string]bool{}
		for _, v := range run.Violations {
			got[v.Invariant] = true
			if r.broken[v.Invariant] == 0 {
				t.Errorf("%s: %s breaks; the page says never", r.file, v.Invariant)
			}
		}
		for name, n := range r.broken {
			if name != "runs" && n == r.runs && !got[name] {
				t.Errorf("%s: %s holds; the page says that it breaks in each run", r.file, name)
			}
		}
	}
}
