package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/sim/longtest"
)

// The rows of the library in which the address of a starting pod is freed.
var windowOf162 = []string{"found-failed-refetch-frees", "r1-whereabouts-162", "r3-ip-reconciler", "whereabouts-110-scale"}

// TestForkIsGated checks that, with the fix of #162, its scenario turns from violated to fixed, with
// the fix of the plugin's crash the scenario of that one, that another stays the same, and that the
// gate is green.
func TestForkIsGated(t *testing.T) {
	longtest.Skip(t)
	clone(t)
	g := newGarden(t)
	fork := copied(t, release(t, whereabouts), filepath.Join(g.dir, "whereabouts"))
	for _, e := range slices.Concat(fixed, elected) {
		edit(t, filepath.Join(fork, e.file), e.old, e.new)
	}
	modfile, err := run([]string{fork}, g.overlay, false, false)
	if err != nil {
		t.Fatal(err)
	}
	binary := g.link(t, "fixed", "-modfile="+modfile, "-overlay="+overlayFor(modfile))
	code, said, found := g.gate(t, binary, "scenarios/ok-reconciler-frees.yaml", "scenarios/r1-whereabouts-162.yaml", "scenarios/found-node-slice-panic.yaml", "--search", "0s")
	fixed := true
	for _, row := range [][2]string{{"r1-whereabouts-162", "duplicate-address"}, {"found-node-slice-panic", "actor-crash"}} {
		fixed = fixed && slices.ContainsFunc(found, func(r result) bool {
			return r.scenario == row[0] && r.kind == "fixed-violation" && r.rule == row[1]
		})
	}
	if code != 0 || !fixed || strings.Contains(said, "ok-reconciler-frees") || !strings.Contains(said, whereabouts+"@v0.9.4 => "+fork) {
		t.Errorf("exit %d, fixed: %v\n%s", code, fixed, said)
	}
}

// TestForkIsSearched checks that a search in generated worlds finds a fault that no scenario of the
// gate shows, and that the finding replays.
func TestForkIsSearched(t *testing.T) {
	if !*planted {
		t.Skip("SKIP: takes minutes; make planted")
	}
	clone(t)
	g := newGarden(t)
	p := &plants[slices.IndexFunc(plants, func(p plant) bool { return p.name == "reservation-ignored" })]
	binary, dir := g.build(t, p), t.TempDir()
	code, said, found := g.gate(t, binary, "scenarios/ok-reconciler-frees.yaml", "--search", "2m", "--out", dir)
	if code != 1 || !slices.ContainsFunc(found, func(r result) bool { return r.scenario == "search" && r.kind == "new-violation" && r.level == "error" }) {
		t.Fatalf("exit %d\n%s", code, said)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file: %v\n%s", err, said)
	}
	if out, err := exec.Command(binary, "replay", files[0]).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestAuthorFixes follows README.md for an author of an address manager, in a fresh clone: with the
// fix of #162 the gate is green, its rows turn from violated to fixed, and no others do.
func TestAuthorFixes(t *testing.T) {
	a := newAuthor(t)
	for _, e := range fixed {
		edit(t, filepath.Join(a.fork, e.file), e.old, e.new)
	}
	code, said, found := a.gate(t, "")
	t.Log(said)
	if code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	var rows []string
	for _, r := range found {
		switch {
		case r.kind == "fixed-violation":
			rows = append(rows, r.scenario)
		case r.level == "error" || r.kind != "cost":
			t.Errorf("moved, too: %+v", r)
		}
	}
	if rows = slices.Compact(rows); !slices.Equal(sorted(rows), windowOf162) {
		t.Errorf("fixed: %v, want %v", rows, windowOf162)
	}
	if !strings.Contains(said, whereabouts+"@v0.9.4 => ../whereabouts") {
		t.Error("the versions do not say that it is a fork")
	}
	if out, err := exec.Command("git", "-C", a.clone, "status", "--porcelain").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("the clone is not clean: %s %v", out, err)
	}
}

// TestAuthorBreaks checks that, with an allocator that ignores a reserved address, the gate is red and
// reports what and where. This fork is built with a replace directive in go.mod.
func TestAuthorBreaks(t *testing.T) {
	a := newAuthor(t)
	p := &plants[slices.IndexFunc(plants, func(p plant) bool { return p.name == "reservation-ignored" })]
	edit(t, filepath.Join(a.fork, p.file), p.old, p.new)
	code, said, found := a.gate(t, "replace")
	t.Log(said)
	if code != 1 {
		t.Errorf("exit %d, want 1", code)
	}
	if !slices.ContainsFunc(found, p.named) {
		t.Errorf("no red row says %s of %s in %s:\n%s", p.kind, p.about, p.scenario, list(found))
	}
}

// author has a fresh clone of ipamsim and a fork beside it.
type author struct{ clone, fork string }

func newAuthor(t *testing.T) *author {
	t.Helper()
	if !*planted {
		t.Skip("SKIP: takes minutes; make planted")
	}
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := &author{clone: dir + "/ipamsim", fork: dir + "/whereabouts"}
	if out, err := exec.Command("git", "clone", "-q", top, a.clone).CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	t.Chdir(a.clone)
	copied(t, release(t, whereabouts), a.fork)
	return a
}

// gate is the command of README.md; with "replace", that of those who know go.mod.
func (a *author) gate(t *testing.T, way string) (code int, said string, found []result) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gate.sarif")
	args := []string{"gate", "GATEFLAGS=--sarif " + file}
	if way == "replace" {
		if _, err := command("mod", "edit", "-replace", whereabouts+"=../whereabouts"); err != nil {
			t.Fatal(err)
		}
	} else {
		args = append(args, "FORK=../whereabouts")
	}
	c := exec.Command("make", args...)
	var out, report bytes.Buffer
	c.Stdout, c.Stderr = &out, &report
	began := time.Now()
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	t.Logf("make %s: %s", strings.Join(args, " "), time.Since(began).Round(time.Second))
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("%s%s", out.Bytes(), report.Bytes())
	}
	// make's own exit code is 2 whatever the command's was; it says which.
	if strings.Contains(report.String(), "Error 1") {
		code = 1
	} else if err != nil {
		t.Fatalf("%s%s", out.Bytes(), report.Bytes())
	}
	return code, out.String(), readSARIF(t, file)
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }
