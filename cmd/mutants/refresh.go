package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"ipamsim/reports/baseline"
)

// committed is the baseline of the library.
const committed = "scenarios/baseline.json"

// baseline is the one that mutants are compared with: the committed one, or what refresh
// made of it.
func (g *garden) baseline() string {
	made := filepath.Join(g.dir, "baseline.json")
	if b, err := os.ReadFile(made + ".of"); err == nil && string(b) == g.committed {
		return made
	}
	return committed
}

// refresh makes the baseline of the program without a mutant: the committed one may be
// green and its runs another course than today's, and whether a mutant changes what a run
// does is then not known. What upstream was stays: to a gate a mutant is a fork.
func (g *garden) refresh(ctx context.Context, files []string) error {
	before, err := baseline.Load(committed)
	if err != nil {
		return err
	}
	made := filepath.Join(g.dir, "baseline.json")
	if err := writeBaseline(made, before); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "mutants: making %s of %d scenarios, without a mutant\n", made, len(files))
	c := g.gating(ctx, append([]string{"--update", "--baseline", made}, files...))
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s gate --update: %w", g.program, err)
	}
	now, err := baseline.Load(made)
	if err != nil {
		return err
	}
	now.Upstream = before.Upstream
	return errors.Join(writeBaseline(made, now), os.WriteFile(made+".of", []byte(g.committed), 0o666))
}

func writeBaseline(path string, b *baseline.Baseline) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(baseline.Write(f, b), f.Close())
}
