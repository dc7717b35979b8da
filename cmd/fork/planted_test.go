package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	planted = flag.Bool("planted", false, "gate the whole library with each planted regression (make planted: an hour)")
	rows    = flag.String("rows", "", "with -planted: these scenario files only, from the module's folder")
)

// TestPlanted: a gate that has never been red proves nothing. Each plant turns the gate of the whole library red,
// and the gate names the failure.
func TestPlanted(t *testing.T) {
	if !*planted {
		t.Skip("SKIP: takes an hour; make planted")
	}
	clone(t)
	g := newGarden(t)
	for i := range plants {
		p := &plants[i]
		t.Run(p.name, func(t *testing.T) {
			binary := g.build(t, p)
			began := time.Now()
			code, said, found := g.gate(t, binary, append(strings.Fields(*rows), "--search", "0s")...)
			t.Logf("%s\ngate: exit %d in %s\n%s", p.what, code, time.Since(began).Round(time.Second), said)
			if code != 1 {
				t.Errorf("exit %d, want 1: the gate misses %s", code, p.name)
			}
			if !slices.ContainsFunc(found, p.named) {
				t.Errorf("no red row says %s of %s in %s:\n%s", p.kind, p.about, p.scenario, list(found))
			}
		})
	}
}

// named reports whether a result names the effect of the plant.
func (p *plant) named(r result) bool {
	return r.level == "error" && r.kind == p.kind && strings.HasSuffix(r.rule, strings.ReplaceAll(p.about, " ", "-")) &&
		(p.scenario == "" || r.scenario == p.scenario)
}

// TestEveryPlantFits: the texts that are replaced are there, once.
func TestEveryPlantFits(t *testing.T) {
	clone(t)
	for _, p := range slices.Concat(plants, further) {
		dir := "."
		if p.module != "" {
			dir = release(t, p.module)
		}
		b, err := os.ReadFile(filepath.Join(dir, p.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), p.old); n != 1 {
			t.Errorf("%s: %s: text found %d times, want once: move the patch to where the code went:\n%s", p.name, p.file, n, p.old)
		}
	}
}

// garden is where plants grow: copies of the modules, which every build shares,
// and what lies over their files.
type garden struct {
	dir      string
	overlay  string            // the one of every build
	hermetic map[string]string // what it says, file to file
	copies   map[string]string // module path to folder
	modfiles map[string]string // module path to the go.mod that takes the copy
}

func newGarden(t *testing.T) *garden {
	t.Helper()
	out, err := command("run", "./cmd/hermetic")
	if err != nil {
		t.Fatal(err)
	}
	file := string(bytes.TrimSpace(out))
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var overlay struct{ Replace map[string]string }
	if err := json.Unmarshal(b, &overlay); err != nil {
		t.Fatal(err)
	}
	return &garden{dir: t.TempDir(), overlay: file, hermetic: overlay.Replace, copies: map[string]string{}, modfiles: map[string]string{}}
}

// module is a copy of a release, unchanged: the go command lays nothing over files
// of its module cache.
func (g *garden) module(t *testing.T, path string) (dir, modfile string) {
	t.Helper()
	if g.copies[path] == "" {
		dir := copied(t, release(t, path), filepath.Join(g.dir, filepath.Base(path)))
		modfile, err := run([]string{dir}, "", false, false)
		if err != nil {
			t.Fatal(err)
		}
		g.copies[path], g.modfiles[path] = dir, modfile
	}
	return g.copies[path], g.modfiles[path]
}

// build is ipamsim with one plant in it.
func (g *garden) build(t *testing.T, p *plant) (binary string) {
	t.Helper()
	var flags []string
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if p.module != "" {
		var modfile string
		dir, modfile = g.module(t, p.module)
		flags = append(flags, "-modfile="+modfile)
	}
	file := filepath.Join(dir, p.file)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(g.dir, p.name+".go")
	if err := os.WriteFile(changed, b, 0o666); err != nil {
		t.Fatal(err)
	}
	edit(t, changed, p.old, p.new)
	over := map[string]string{file: changed}
	maps.Copy(over, g.hermetic)
	maps.Copy(over, g.copy(t, p, changed))
	b, err = json.Marshal(map[string]any{"Replace": over})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(g.dir, p.name+".json")
	if err := os.WriteFile(overlay, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return g.link(t, p.name, append(flags, "-overlay="+overlay)...)
}

// copy is what lies over our copy of the file that is changed, if we have one.
func (g *garden) copy(t *testing.T, p *plant, changed string) map[string]string {
	t.Helper()
	all, err := allCopies()
	if err != nil {
		t.Fatal(err)
	}
	over := map[string]string{}
	for _, c := range all {
		pkg := path.Join(p.module, path.Dir(p.file))
		folder, ok := c.folders[pkg]
		if !ok {
			continue
		}
		src, err := os.ReadFile(changed)
		if err != nil {
			t.Fatal(err)
		}
		text, err := c.text(pkg, filepath.Base(folder), p.file, src)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := filepath.Abs(filepath.Join(folder, path.Base(p.file)))
		if err != nil {
			t.Fatal(err)
		}
		over[ours] = filepath.Join(g.dir, p.name+"-copy.go")
		if err := os.WriteFile(over[ours], text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return over
}

// link builds ipamsim with the hermetic runtime and some flags.
func (g *garden) link(t *testing.T, name string, flags ...string) (binary string) {
	t.Helper()
	t.Setenv("CGO_ENABLED", "0")
	binary = filepath.Join(g.dir, name)
	// Without what debuggers want, linking takes half as long; frames keep their names.
	args := append([]string{"build", "-ldflags=-s -w", "-tags=hermetic", "-gcflags=all=-dwarf=false", "-buildvcs=false", "-o", binary}, flags...)
	if _, err := command(append(args, "./cmd/ipamsim")...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(binary) })
	return binary
}

// result is one change as the gate's SARIF has it.
type result struct {
	scenario, kind, rule, level string
	found                       *news // by a search
}

// news is where a search found a failure, and its cause.
type news struct {
	Cause, Target string
	Seed          uint64
	Worlds        int
}

// gate runs "ipamsim gate" at the top of the clone.
func (g *garden) gate(t *testing.T, binary string, args ...string) (code int, said string, found []result) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gate.sarif")
	c := exec.Command(binary, append([]string{"gate", "--sarif", file}, args...)...)
	var out, report bytes.Buffer
	c.Stdout, c.Stderr = &out, &report
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if code = c.ProcessState.ExitCode(); code > 1 || code < 0 {
		t.Fatalf("exit %d: %s", code, report.Bytes())
	}
	return code, out.String(), readSARIF(t, file)
}

// readSARIF reads what a gate found.
func readSARIF(t *testing.T, file string) (found []result) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID, Level string
				Properties    struct {
					Kind  string
					Found *news
				}
				Locations []struct{ LogicalLocations []struct{ Name string } }
			}
		}
	}
	if err := json.Unmarshal(b, &log); err != nil {
		t.Fatal(err)
	}
	for _, r := range log.Runs[0].Results {
		found = append(found, result{r.Locations[0].LogicalLocations[0].Name, r.Properties.Kind, r.RuleID, r.Level, r.Properties.Found})
	}
	return found
}

func list(found []result) string {
	var b strings.Builder
	for _, r := range found {
		fmt.Fprintf(&b, "%s %s %s %s\n", r.level, r.scenario, r.kind, r.rule)
	}
	return b.String()
}
