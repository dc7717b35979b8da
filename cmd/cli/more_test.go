package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// addOneMore are the kinds of the table "Add one more" in HACKING.md, by the file in
// testdata/more that adds one.
var addOneMore = []string{"action", "invariant", "manager", "setting", "strategy", "subcommand"}

// more is the module with one more of some kinds, as the replacements of a go -overlay:
// the file that stands in for each path.
func more(t *testing.T, root string, kinds ...string) map[string]string {
	t.Helper()
	out, dir := map[string]string{}, t.TempDir()
	for _, kind := range kinds {
		a, err := txtar.ParseFile(filepath.Join("testdata", "more", kind+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Files) > 2 {
			t.Errorf("%s: %d files, want a new one and a line at most", kind, len(a.Files))
		}
		for i, f := range a.Files {
			text := f.Data
			if old, err := os.ReadFile(filepath.Join(root, f.Name)); err == nil {
				if text, err = withLines(string(old), string(text)); err != nil {
					t.Errorf("%s: %s: %v", kind, f.Name, err)
				}
			} else if i == 0 {
				t.Errorf("%s: %s: %v; the first file has the line that registers it", kind, f.Name, err)
			}
			path := filepath.Join(dir, strings.ReplaceAll(f.Name, "/", "_"))
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
			out[filepath.Join(root, filepath.FromSlash(f.Name))] = path
		}
	}
	return out
}

// withLines is a file with lines added: pairs of a line that is there once, and one to
// come after it. Two are the most: one that registers, and its import.
func withLines(file, pairs string) ([]byte, error) {
	lines := strings.SplitAfter(pairs, "\n")
	lines = lines[:len(lines)-1] // nothing, behind the last newline
	if n := len(lines); n != 2 && (n != 4 || !strings.HasPrefix(lines[0], "\t\"")) {
		return nil, fmt.Errorf("%d lines, want one and its import at most, each after one that is there", n/2)
	}
	for i := 0; i < len(lines); i += 2 {
		if strings.Count(file, lines[i]) != 1 {
			return nil, fmt.Errorf("%q is not there once", lines[i])
		}
		file = strings.Replace(file, lines[i], lines[i]+lines[i+1], 1)
	}
	return []byte(file), nil
}

// TestAddOneMore: an invariant, a strategy, an operator's action, a subcommand, an address
// manager and a plan's setting are a file and a line each, and work: one scenario uses
// the first three of the fourth.
func TestAddOneMore(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	replace := more(t, root, addOneMore...)
	if !*initFlag || t.Failed() {
		t.Skip("SKIPPED: builds everything once more: make init-test")
	}
	dir := t.TempDir()
	overlay, program := overlaid(t, dir, replace), filepath.Join(dir, "ipamsim")
	build := exec.Command("go", "build", "-buildvcs=false", "-overlay", overlay, "-tags=hermetic", "-gcflags=all=-dwarf=false", "-o", program, "ipamsim/cmd/ipamsim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := runIn(t, ".")
	run("hello", program, "hello")
	run("XFAIL", program, "run", "testdata/more/more.yaml")
	run("growNoon: want true or false", program, "plan", "testdata/more/plan.yaml", "--out", filepath.Join(dir, "plan"))
}

// overlaid writes the overlay of the hermetic runtime with more replacements, and returns
// its name.
func overlaid(t *testing.T, dir string, replace map[string]string) string {
	t.Helper()
	hermetic, err := exec.Command("go", "run", "ipamsim/cmd/hermetic").Output()
	if err != nil {
		t.Fatal(err)
	}
	var o struct{ Replace map[string]string }
	text, err := os.ReadFile(strings.TrimSpace(string(hermetic)))
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	for path, with := range replace {
		o.Replace[path] = with
	}
	text, _ = json.Marshal(o) // strings
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return overlay
}

// TestOneMoreIsTested: with one more action and one more invariant, each a file and a
// line, the tests that compare lists with each other pass, and a finding has the class of
// the action and the cause of the invariant.
func TestOneMoreIsTested(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	replace := more(t, root, "action", "invariant")
	if !*initFlag || t.Failed() {
		t.Skip("SKIPPED: builds the tests once more: make init-test")
	}
	finding, err := filepath.Abs("testdata/more/finding_test.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	replace[filepath.Join(root, "fuzz", "onemore_test.go")] = finding
	dir := t.TempDir()
	test := func(args ...string) {
		t.Helper()
		c := exec.Command("go", slices.Concat([]string{"test", "-vet=off", "-count=1", "-tags=hermetic", "-gcflags=all=-dwarf=false", "-overlay", overlaid(t, dir, replace)}, args)...)
		c.Dir, c.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	schema := filepath.Join(dir, "schema.json") // which make golden writes
	test("-run", "^TestSchema$", "./scenarios", "-args", "-schema", schema)
	replace[filepath.Join(root, "scenarios", "schema.json")] = schema
	// That each invariant was seen to fail is not a list: it wants a history in the tests of
	// package invariant, and a bug of the canary.
	test("-run", ".", "-skip", "^TestBugsAreTheInvariants$", "./model/...", "./fuzz/cause", "./fuzz/space/...", "./sim/cluster/action", "./sim/cluster/hazard")
	test("-run", "Schema|EveryAction|Good|PrintLaw|Timeline|Library", "./scenarios")
	test("-run", "OneMore|Trigger|Cause|Corpora|Known", "./fuzz")
}
