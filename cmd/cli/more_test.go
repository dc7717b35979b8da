package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// addOneMore are the kinds of README's table "To add one more", by the file in
// testdata/more that adds one.
var addOneMore = []string{"action", "invariant", "manager", "setting", "strategy", "subcommand"}

// more is the module with one more of each kind, as the replacements of a go -overlay:
// the file that stands in for each path.
func more(t *testing.T, root string) map[string]string {
	t.Helper()
	out, dir := map[string]string{}, t.TempDir()
	for _, kind := range addOneMore {
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
	replace := more(t, root)
	if !*initFlag || t.Failed() {
		t.Skip("SKIPPED: builds everything once more: make init-test")
	}
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
	dir := t.TempDir()
	overlay, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "ipamsim")
	if err := os.WriteFile(overlay, text, 0o666); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-overlay", overlay, "-tags=hermetic", "-o", program, "ipamsim/cmd/ipamsim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := runIn(t, ".")
	run("hello", program, "hello")
	run("XFAIL", program, "run", "testdata/more/more.yaml")
	run("growNoon: want true or false", program, "plan", "testdata/more/plan.yaml", "--out", filepath.Join(dir, "plan"))
}
