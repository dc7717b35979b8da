package mutants_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/fuzz/mutants"
	"ipamsim/fuzz/mutants/mutant"
	"ipamsim/reports/baseline"
)

var update = flag.Bool("update", false, "rewrite the golden files; read the diff")

// toy builds the toy program with its mutants, and returns them and the program.
func toy(t *testing.T) (mutants.Set, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/toy")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	targets := &mutants.Targets{Module: "example.org/toy", Packages: []mutants.Target{{Folder: "."}}}
	files, set, err := targets.Make(nil, "example.org/toy/mutant")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, mutants.File{Path: "mutant/mutant.go", Text: mutants.Source})
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.Path, f.Text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "build", "-o", "toy", ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return set, filepath.Join(dir, "toy")
}

// said returns the output of the program, and its log.
func said(t *testing.T, program string, env ...string) (string, string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program)
	c.Env = append(os.Environ(), env...)
	var log strings.Builder
	c.Stderr, c.WaitDelay = &log, time.Second
	out, _ := c.Output() // the output of a program that crashes counts, too
	return strings.TrimSpace(string(out)), log.String()
}

// TestToy: every operator is applied; the output shows the effect of each mutant, and no mutant changes the
// log. Without an active mutant the output is the original one.
func TestToy(t *testing.T) {
	golden, err := filepath.Abs("testdata/toy.golden")
	if err != nil {
		t.Fatal(err)
	}
	set, program := toy(t)
	plain, log := said(t, program)
	var b strings.Builder
	fmt.Fprintf(&b, "without: %s\n\n", plain)
	seen, keys := map[mutants.Operator]bool{}, map[string]bool{}
	for i := range set.Mutants {
		m := &set.Mutants[i]
		if m.ID != i+1 {
			t.Errorf("number %d at %d", m.ID, i)
		}
		if seen[m.Operator] = true; keys[m.Key()] {
			t.Errorf("two mutants are %s", m.Key())
		}
		keys[m.Key()] = true
		out, its := said(t, program, fmt.Sprintf("%s=%d", mutant.Active, m.ID))
		if out == plain {
			out = "(the same)"
		}
		if first, _, _ := strings.Cut(log, "\n"); !strings.HasPrefix(its, first) {
			t.Errorf("%s: it logs %s", m.Key(), its)
		}
		fmt.Fprintf(&b, "%s:%d:%d %s: %s -> %s\n\t%s\n", m.File, m.Line, m.Column, m.Operator, m.From, m.To, out)
	}
	for _, op := range mutants.Operators {
		if !seen[op] {
			t.Errorf("no mutant by %s", op)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestReach: the places that a run executes, for all processes that name the file.
func TestReach(t *testing.T) {
	set, program := toy(t)
	marks := filepath.Join(t.TempDir(), "marks")
	if err := os.WriteFile(marks, make([]byte, len(set.Mutants)+1), 0o666); err != nil {
		t.Fatal(err)
	}
	said(t, program, mutant.Reach+"="+marks)
	b, err := os.ReadFile(marks)
	if err != nil {
		t.Fatal(err)
	}
	var not []string
	for i := range set.Mutants {
		if b[set.Mutants[i].ID] == 0 {
			not = append(not, set.Mutants[i].From)
		}
	}
	// In this run the trace has at most three letters.
	if got := strings.Join(not, "; "); got != `note("long")` || b[0] != 0 {
		t.Errorf("not come to: %s", got)
	}
}

// TestJudge: a red gate kills, unless it proves nothing; a green gate is "the same" only if no run took
// another course.
func TestJudge(t *testing.T) {
	change := func(kind baseline.Kind, worse bool) baseline.Moving {
		return baseline.Moving{Scenario: "s", Kind: kind, Regression: worse, What: "w"}
	}
	for _, x := range []struct {
		name    string
		moved   int
		changes []baseline.Moving
		want    mutants.Verdict
	}{
		{"as before", 0, nil, mutants.Same},
		{"another course", 2, nil, mutants.Survived},
		{"cheaper", 2, []baseline.Moving{change(baseline.CostMoved, false)}, mutants.Survived},
		{"worse", 2, []baseline.Moving{change(baseline.CostMoved, false), change(baseline.NewViolation, true)}, mutants.Killed},
		{"no time", 2, []baseline.Moving{change(baseline.LeftOut, true)}, mutants.Unknown},
		{"no time for the rest", 2, []baseline.Moving{change(baseline.LeftOut, true), change(baseline.Unfinished, true)}, mutants.Killed},
		{"it cannot run", 0, []baseline.Moving{change(baseline.CannotRun, true)}, mutants.Unknown},
	} {
		if got := mutants.Judge(&baseline.Summary{Runs: 3, Moved: x.moved, Changes: x.changes}); got.Verdict != x.want {
			t.Errorf("%s: %s, want %s", x.name, got.Verdict, x.want)
		}
	}
}

// TestTargets: a table lists the module's packages to mutate, and the manager's name in baselines.
func TestTargets(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"# what\n\nmodule example.org/m\nmanager m-n\npackage a b.go c.go\npackage d\n", "&{example.org/m m-n [{a [b.go c.go]} {d []}]} <nil>"},
		{"module example.org/m\npackage a\n", "&{example.org/m  [{a []}]} <nil>"},
		{"module example.org/m\n", "<nil> FILE: no package"},
		{"package a\n", "<nil> FILE:1: want one line module PATH, at most one manager NAME, and then package FOLDER [FILE…]"},
		{"module example.org/m\nmanager a\nmanager b\n", "<nil> FILE:3: want one line module PATH, at most one manager NAME, and then package FOLDER [FILE…]"},
	} {
		file := filepath.Join(t.TempDir(), "mutants.txt")
		if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		targets, err := mutants.ReadTargets(file)
		if got := strings.ReplaceAll(fmt.Sprint(targets, err), file, "FILE"); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestCount: a score lists the mutants that survived and, for the next measurement, what killed the others.
func TestCount(t *testing.T) {
	set := mutants.Set{Mutants: []mutants.Mutant{
		{ID: 1, File: "a.go", Line: 1, Func: "f", Operator: mutants.Operators[0]},
		{ID: 2, File: "a.go", Line: 2, Func: "f", Operator: mutants.Operators[0]},
		{ID: 3, File: "a.go", Line: 3, Func: "g", Operator: mutants.Operators[1]},
	}}
	killed := mutants.Judge(&baseline.Summary{Moved: 1, Changes: []baseline.Moving{{Scenario: "s", Kind: baseline.NewViolation, Regression: true, What: "w"}}})
	killed.Mutant = set.Mutants[0].Key()
	s := mutants.Count(&set, map[int]bool{1: true, 2: true}, map[string]mutants.Result{
		killed.Mutant:        killed,
		set.Mutants[1].Key(): {Mutant: set.Mutants[1].Key(), Verdict: mutants.Survived, Moved: 2},
	})
	if want := (mutants.Tally{Mutants: 3, Unreached: 1, Sampled: 2, Killed: 1, Survived: 1}); s.All != want {
		t.Errorf("%+v, want %+v", s.All, want)
	}
	if want := []mutants.Kill{{killed.Mutant, "s", baseline.NewViolation, "w"}}; !slices.Equal(s.Kills, want) {
		t.Errorf("kills %v, want %v", s.Kills, want)
	}
	if len(s.Left) != 1 || s.Left[0].ID != 2 || len(s.Gaps) != 1 || s.Gaps[0] != (mutants.Gap{File: "a.go", Func: "g", Unreached: 1, Mutants: 1}) {
		t.Errorf("left %v, gaps %v", s.Left, s.Gaps)
	}
}
