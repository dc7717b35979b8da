package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ipamsim/fuzz/mutants"
	"ipamsim/fuzz/mutants/mutant"
	"ipamsim/reports/baseline"
)

// scenarios are the files of the library that are about the manager, the shortest first,
// without those that are too long.
func (g *garden) scenarios() ([]string, error) {
	b, err := baseline.Load(committed)
	if err != nil {
		return nil, err
	}
	steps, files := map[string]int{}, []string{}
	for _, e := range b.Scenarios {
		if !slices.Contains(strings.Split(e.Manager, "+"), g.name) {
			continue
		}
		file := filepath.Join("scenarios", e.Scenario+".yaml")
		files = append(files, file)
		for _, r := range e.Runs {
			steps[file] += r.Steps
		}
	}
	if g.steps > 0 {
		files = slices.DeleteFunc(files, func(f string) bool { return steps[f] > g.steps })
	}
	slices.SortStableFunc(files, func(a, b string) int { return steps[a] - steps[b] })
	return files, nil
}

// reachedBy is what a file keeps of a program without a mutant.
type reachedBy struct {
	Sum     string           `json:"sum"`
	Reached map[string][]int `json:"reached"` // by scenario's file
}

// errMoved is that a scenario takes another course than the baseline's.
var errMoved = errors.New("without a mutant, a run differs from the baseline")

// reach runs all scenarios without a mutant, checks that they conform to the baseline, which it
// regenerates if they do not, and records which scenario reaches which mutant.
func (g *garden) reach(ctx context.Context) error {
	file := filepath.Join(g.dir, "reached.json")
	known := reachedBy{}
	if b, err := os.ReadFile(file); err == nil && json.Unmarshal(b, &known) == nil && known.Sum == g.sum {
		g.reached = known.Reached
		return nil
	}
	files, err := g.scenarios()
	if err != nil {
		return err
	}
	if g.reached, err = g.sample(ctx, files); errors.Is(err, errMoved) {
		if err = g.refresh(ctx, files); err == nil {
			g.reached, err = g.sample(ctx, files)
		}
	}
	if err != nil {
		return err
	}
	return writeJSON(file, &reachedBy{g.sum, g.reached})
}

// sample runs scenarios without a mutant, and returns which mutants each reaches. The error is errMoved if a run does
// not match the baseline.
func (g *garden) sample(ctx context.Context, files []string) (map[string][]int, error) {
	reached := map[string][]int{}
	for i, f := range files {
		var s *baseline.Summary
		ids, err := visit(g.dir, &g.set, func(env string) (err error) {
			s, err = g.gate(ctx, []string{env}, []string{f})
			return err
		})
		if err != nil {
			return nil, err
		}
		if s.Red || s.Moved > 0 {
			return nil, fmt.Errorf("%s: %w (%d of %d runs)", f, errMoved, s.Moved, s.Runs)
		}
		reached[f] = ids
		fmt.Fprintf(os.Stderr, "mutants: %d of %d scenarios match the baseline; %s reaches %d\n", i+1, len(files), f, len(reached[f]))
	}
	return reached, nil
}

// refused is a gate that did not run a scenario.
type refused struct{ error }

// gating is the program's gate, not yet begun.
func (g *garden) gating(ctx context.Context, args []string) *exec.Cmd {
	c := exec.CommandContext(ctx, g.program, append([]string{"gate", "--workers", fmt.Sprint(g.workers)}, args...)...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGINT) } // it takes its processes along
	c.WaitDelay = 10 * time.Second
	return c
}

// gate runs the program's brief gate of some scenarios.
func (g *garden) gate(ctx context.Context, env, files []string) (*baseline.Summary, error) {
	out := filepath.Join(g.dir, "gate.json")
	if err := os.Remove(out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c := g.gating(ctx, append([]string{"--brief", "--baseline", g.baseline(), "--json", out, "--budget", g.budget.String()}, files...))
	c.Env = append(os.Environ(), env...)
	said, err := c.CombinedOutput()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	b, missing := os.ReadFile(out)
	if missing != nil {
		return nil, &refused{fmt.Errorf("%s: %w\n%s", c, err, said)}
	}
	s := &baseline.Summary{}
	return s, json.Unmarshal(b, s)
}

// comesTo are the mutants that a scenario comes to.
func (g *garden) comesTo() map[int]bool {
	all := map[int]bool{}
	for _, ids := range g.reached {
		for _, id := range ids {
			all[id] = true
		}
	}
	return all
}

// measure gates the mutants of the sample that nothing is known of.
func (g *garden) measure(ctx context.Context) error {
	kept := filepath.Join(g.dir, "results.jsonl")
	known, err := g.results(kept)
	if err != nil {
		return err
	}
	files, err := g.scenarios()
	if err != nil {
		return err
	}
	killers, err := g.killers()
	if err != nil {
		return err
	}
	done := func(key string) bool { _, ok := known[key]; return ok }
	return g.judgeAll(&g.set, g.drawn(&g.set, g.comesTo(), nil), kept, done, func(m *mutants.Mutant) (result, error) {
		var some []string
		for _, f := range files {
			if slices.Contains(g.reached[f], m.ID) {
				some = append(some, f)
			}
		}
		s, err := g.try(ctx, m.ID, some, killers[m.Key()])
		if err != nil {
			return nil, err
		}
		r := mutants.Judge(s)
		r.Sum, r.Mutant, r.Scenarios = g.sum, m.Key(), len(some)
		return &r, nil
	})
}

// try gates a mutant with the scenarios that come to it: first, alone, with the one that
// killed it before, if any did.
func (g *garden) try(ctx context.Context, id int, files []string, killer string) (*baseline.Summary, error) {
	env := []string{fmt.Sprintf("%s=%d", mutant.Active, id)}
	if slices.Contains(files, killer) {
		s, err := g.gate(ctx, env, []string{killer})
		if err == nil && mutants.Judge(s).Verdict == mutants.Killed {
			return s, nil
		}
	}
	s, err := g.gate(ctx, env, files)
	if errors.As(err, new(*refused)) {
		// ipamsim asks upstream's functions about a file, too.
		return &baseline.Summary{Changes: []baseline.Moving{{Kind: baseline.CannotRun, Regression: true, What: "files"}}}, nil
	}
	return s, err
}

// killers are the files of the scenarios that killed mutants, by their keys, when they were
// last measured.
func (g *garden) killers() (map[string]string, error) {
	s, err := readJSON[mutants.Score](filepath.Join(facts, g.manager+".json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out := map[string]string{}
	for _, k := range s.Kills {
		out[k.Mutant] = filepath.Join("scenarios", k.Scenario+".yaml")
	}
	return out, nil
}

// results are those that a file keeps of this program, by mutant.
func (g *garden) results(path string) (map[string]mutants.Result, error) {
	out := map[string]mutants.Result{}
	return out, eachLine(path, func(r *mutants.Result) {
		if r.Sum == g.sum {
			out[r.Mutant] = *r
		}
	})
}
