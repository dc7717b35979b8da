package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ipamsim/fuzz/mutants"
	"ipamsim/fuzz/mutants/mutant"
	"ipamsim/sim/hermetic/overlay"
)

// harness is the name that stands in an address manager's place: the simulator's own
// mutants, which its tests are to kill.
const harness = "harness"

// parts are what mutants of the harness are made of, and drawn from one by one.
var parts = []mutants.Part{
	{Name: "invariants", Folders: []string{"model/invariant", "sim/cluster/checker"}},
	{Name: "kernel", Folders: []string{"sim", "sim/strategy"}},
	{Name: "cluster", Folders: []string{"sim/cluster"}},
}

// workshop is the harness with its mutants in it: no copy, but an overlay of its files.
type workshop struct {
	settings
	dir     string
	overlay string // a file: the runtime's overlay, and that of the files with mutants
	set     mutants.Set
	suites  []*suite
	sum     string // of the programs with tests
	results map[string]mutants.Trial
	lived   map[string]bool // mutants that survived the tests of another day
}

// harness makes mutants of the harness, and has its tests judge them.
func (s *settings) harness(ctx context.Context) error {
	if s.known {
		return write("reports/MUTANTS.md")
	}
	h := &workshop{settings: *s, dir: filepath.Join(below, harness), results: map[string]mutants.Trial{}, lived: map[string]bool{}}
	if err := os.MkdirAll(h.dir, 0o777); err != nil {
		return err
	}
	if err := h.mutate(); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "mutants: %d of the harness; building tests\n", len(h.set.Mutants))
	if err := h.build(ctx); err != nil {
		return err
	}
	if err := h.reach(ctx); err != nil {
		return err
	}
	if err := h.measure(ctx); err != nil || s.only != "" {
		return err
	}
	return h.report()
}

// mutate writes the files with mutants in them, and the overlay by which they are built.
func (h *workshop) mutate() error {
	runtime, err := overlay.Path()
	if err != nil {
		return err
	}
	t := mutants.Targets{Module: "ipamsim"}
	for _, p := range parts {
		for _, f := range p.Folders {
			t.Packages = append(t.Packages, mutants.Target{Folder: f})
		}
	}
	var files []mutants.File
	if files, h.set, err = t.Make([]string{"-overlay=" + runtime, "-tags=hermetic", "-gcflags=all=-dwarf=false"}, "ipamsim/fuzz/mutants/mutant"); err != nil {
		return err
	}
	replace := struct{ Replace map[string]string }{}
	if b, err := os.ReadFile(runtime); err != nil {
		return err
	} else if err := json.Unmarshal(b, &replace); err != nil {
		return fmt.Errorf("%s: %w", runtime, err)
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	for _, f := range files {
		to := filepath.Join(root, h.dir, "source", f.Path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o777), os.WriteFile(to, f.Text, 0o666)); err != nil {
			return err
		}
		replace.Replace[filepath.Join(root, f.Path)] = to
	}
	h.overlay = filepath.Join(root, h.dir, "overlay.json")
	return errors.Join(writeJSON(h.overlay, &replace), writeJSON(filepath.Join(h.dir, "mutants.json"), &h.set))
}

// build builds the test binaries. Each has all mutants.
func (h *workshop) build(ctx context.Context) error {
	sum := sha256.New()
	for _, s := range deciding {
		s.program = filepath.Join(h.dir, strings.ReplaceAll(s.folder, "/", "-")+".test")
		if n := len(h.suites); n > 0 && h.suites[n-1].program == s.program {
			h.suites = append(h.suites, s)
			continue
		}
		c := exec.CommandContext(ctx, "go", "test", "-c", "-overlay="+h.overlay, "-tags=hermetic", "-gcflags=all=-dwarf=false", "-o", s.program, "./"+s.folder)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", c, err, out)
		}
		if err := hash(sum, s.program); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "mutants: built the tests of %s\n", s.folder)
		h.suites = append(h.suites, s)
	}
	h.sum = fmt.Sprintf("%x", sum.Sum(nil)[:8])
	return nil
}

// reach runs every test without a mutant: it has to pass, and which mutants it comes to
// decides for which it is run.
func (h *workshop) reach(ctx context.Context) error {
	file := filepath.Join(h.dir, "reached.json")
	known := struct {
		Sum   string
		Tests map[string][]*test // by suite
	}{}
	if b, err := os.ReadFile(file); err != nil || json.Unmarshal(b, &known) != nil || known.Sum != h.sum {
		known.Sum, known.Tests = h.sum, map[string][]*test{}
	}
	for _, s := range h.suites {
		if tests, ok := known.Tests[s.name()]; ok {
			s.tests = tests
			continue
		}
		if err := s.sample(ctx, h.dir, &h.set); err != nil {
			return err
		}
		known.Tests[s.name()] = s.tests
		if err := writeJSON(file, &known); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "mutants: %d tests of %s pass, in %.1fs\n", len(s.tests), s.name(), s.seconds())
	}
	return nil
}

// reached are the mutants that a test comes to.
func (h *workshop) reached() map[int]bool {
	all := map[int]bool{}
	for _, s := range h.suites {
		for _, t := range s.tests {
			for _, id := range t.Reached {
				all[id] = true
			}
		}
	}
	return all
}

// measure tries the mutants of the sample that nothing is known of.
func (h *workshop) measure(ctx context.Context) error {
	kept := filepath.Join(h.dir, "results.jsonl")
	if err := h.known(kept); err != nil {
		return err
	}
	done := func(key string) bool {
		r, ok := h.results[key]
		return ok && r.Verdict != mutants.Unknown
	}
	return h.judgeAll(&h.set, h.drawn(&h.set, h.reached(), parts), kept, done, func(m *mutants.Mutant) (result, error) {
		r, err := h.try(ctx, m)
		if err != nil {
			return nil, err
		}
		r.Hole = r.Verdict == mutants.Killed && h.lived[r.Mutant]
		h.results[r.Mutant] = r
		return &r, nil
	})
}

// known reads what a file keeps of these programs.
func (h *workshop) known(path string) error {
	return eachLine(path, func(r *mutants.Trial) {
		if r.Verdict == mutants.Survived || r.Hole {
			h.lived[r.Mutant] = true
		}
		if r.Sum == h.sum {
			h.results[r.Mutant] = *r
		}
	})
}

// try runs the tests that come to a mutant, those of its own package first, until one
// fails.
func (h *workshop) try(ctx context.Context, m *mutants.Mutant) (mutants.Trial, error) {
	r := mutants.Trial{Mutant: m.Key(), Sum: h.sum, Verdict: mutants.Survived}
	order := slices.Clone(h.suites)
	slices.SortStableFunc(order, func(a, b *suite) int {
		own := func(s *suite) int {
			if s.folder == path.Dir(m.File) {
				return 0
			}
			return 1
		}
		return own(a) - own(b)
	})
	env := fmt.Sprintf("%s=%d", mutant.Active, m.ID)
	for _, s := range order {
		for _, tests := range s.coming(m.ID) {
			r.Tests += len(tests)
			o, err := s.judge(ctx, tests, env)
			if err != nil {
				return r, err
			}
			if o.doubted {
				r.Verdict = mutants.Unknown
			}
			if r.Seconds += o.seconds; !o.passed {
				r.Verdict, r.Suite, r.Test, r.Late = mutants.Killed, s.folder, o.first, o.late
				return r, nil
			}
		}
	}
	return r, nil
}

// report writes the facts of the harness, and the report.
func (h *workshop) report() error {
	s := mutants.CountTrials(&h.set, parts, h.reached(), h.results)
	s.Date, s.Seed = time.Now().UTC().Format(time.DateOnly), h.seed
	for _, d := range h.suites {
		s.Suites = append(s.Suites, mutants.Asked{Folder: d.folder, Tests: len(d.tests), Seconds: math.Round(d.seconds()), Only: d.only, Most: d.most})
	}
	return publish(harness, &s)
}

// harnessSection is that of the report; "" if the harness was not measured.
func harnessSection() (string, error) {
	s, err := readJSON[mutants.Harness](filepath.Join(facts, harness+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	reasons, err := mutants.Reasons("cmd/mutants/harness/survivors.txt")
	if err != nil {
		return "", err
	}
	return "\n" + s.Markdown(reasons), nil
}
