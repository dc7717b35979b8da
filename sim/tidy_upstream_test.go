package sim_test

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ipamsim/sim/longtest"
)

// What git tracks, we wrote. The source of a module comes from the module cache
// (cmd/fork), and facts are quoted in less than runMin lines.

// runMin is how many lines in a row may not be those of a module's file.
const runMin = 25

// notOurs are names of tracked files that are not ours: the licence's text, and sums that
// the go command writes.
var notOurs = map[string]bool{"LICENSE": true, "go.sum": true}

// copyright matches the header of a file from another project. It does not match itself.
var copyright = regexp.MustCompile(`(?i)[c]opyright (\(c\)|©)? ?[0-9]{4}|[l]icensed under the|[s]pdx-license-identifier`)

// TestNoUpstreamText fails if a file that git tracks or would add has a copyright
// notice, or runMin lines in a row of a file in a required module or in Go's own source.
func TestNoUpstreamText(t *testing.T) {
	longtest.Skip(t) // reads the whole module cache; make lint runs it
	files := tracked(t)
	ours := newPassages()
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join("..", file))
		if err != nil || notOurs[filepath.Base(file)] {
			continue // removed, and not yet committed
		}
		if notice := copyright.Find(text); notice != nil {
			t.Errorf("%s: %q: a file of somebody else's; generate it from the module cache (sim/ipam/*/copies.txt)", file, notice)
		}
		ours.add(file, text)
	}
	for _, dir := range moduleDirs(t) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !ours.kinds[filepath.Ext(path)] {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if at := ours.in(text); at != "" {
				t.Errorf("%s: %d lines in a row of %s", at, runMin, path)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestPassages: a run of runMin lines is found wherever it begins, a shorter one is not,
// nor are the same lines in another order.
func TestPassages(t *testing.T) {
	var lines []string
	for i := range 2 * runMin {
		lines = append(lines, fmt.Sprintf("line %d", i))
	}
	text := func(lines ...string) []byte { return []byte(strings.Join(lines, "\n")) }
	p := newPassages()
	p.add("ours.go", text(lines...))
	for _, c := range []struct {
		name string
		text []byte
		want string
	}{
		{"all", text(lines...), "ours.go:1"},
		{"from the middle", text(append([]string{"another"}, lines[7:7+runMin]...)...), "ours.go:8"},
		{"a line less", text(append(lines[7:6+runMin:6+runMin], "another")...), ""},
		{"another order", text(append(lines[runMin:runMin+12:runMin+12], lines[:runMin-12]...)...), ""},
		{"binary", append([]byte{0}, text(lines...)...), ""},
	} {
		if got := p.in(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// tracked are the files that git tracks or would add, by their paths in the module.
func tracked(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("SKIPPED: what git tracks is not known: %v", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
}

// moduleDirs are the folders of Go's source and of the required modules that the cache has.
func moduleDirs(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-m", "-f", "{{if not .Main}}{{.Dir}}{{end}}", "all")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -m all: %v", err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("go env GOROOT: %v", err)
	}
	dirs := strings.Fields(string(out))
	if len(dirs) < 100 {
		t.Fatalf("%d modules in the cache", len(dirs))
	}
	return append(dirs, filepath.Join(strings.TrimSpace(string(root)), "src"))
}

// passages are runs of runMin lines, by a hash of theirs.
type passages struct {
	seed  maphash.Seed
	kinds map[string]bool // of files, by their endings
	lines map[uint64]bool
	at    map[uint64]string // file:line
	first uint64            // what the first line of a run is multiplied by
}

func newPassages() *passages {
	p := &passages{maphash.MakeSeed(), map[string]bool{}, map[uint64]bool{}, map[uint64]string{}, 1}
	for range runMin {
		p.first *= base
	}
	return p
}

const base = 0x9e3779b97f4a7c15 // of the rolling hash

// add every run of a file.
func (p *passages) add(file string, text []byte) {
	p.kinds[filepath.Ext(file)] = true
	known := func(line uint64) bool {
		p.lines[line] = true
		return true
	}
	p.runs(text, known, func(run uint64, line int) bool {
		if p.at[run] == "" {
			p.at[run] = fmt.Sprintf("%s:%d", file, line)
		}
		return true
	})
}

// in is where a run of the text has been added, or "".
func (p *passages) in(text []byte) (at string) {
	p.runs(text, func(line uint64) bool { return p.lines[line] }, func(run uint64, _ int) bool {
		at = p.at[run]
		return at == ""
	})
	return at
}

func (p *passages) hash(line []byte) uint64 {
	return maphash.Bytes(p.seed, bytes.TrimRight(line, " \t\r\n"))
}

// runs calls found with the hash and the first line's number of each run of lines that
// may all be part of one, until it returns false. Binary files have none.
func (p *passages) runs(text []byte, may func(line uint64) bool, found func(run uint64, line int) bool) {
	if bytes.IndexByte(text[:min(len(text), 512)], 0) >= 0 {
		return
	}
	var window [runMin]uint64
	var run uint64
	n, number := 0, 0 // lines of this run, lines in all
	for line := range bytes.Lines(text) {
		number++
		h := p.hash(line)
		if !may(h) {
			n, run = 0, 0
			continue
		}
		run = run*base + h
		if n >= runMin {
			run -= window[n%runMin] * p.first
		}
		window[n%runMin] = h
		if n++; n >= runMin && !found(run, number-runMin+1) {
			return
		}
	}
}
