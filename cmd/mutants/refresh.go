package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

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
	before, err := readBaseline(committed)
	if err != nil {
		return err
	}
	made := filepath.Join(g.dir, "baseline.json")
	if err := writeBaseline(made, before); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "mutants: making %s of %d scenarios, without a mutant\n", made, len(files))
	c := exec.CommandContext(ctx, g.program, append([]string{"gate", "--update", "--baseline", made, "--workers", fmt.Sprint(g.workers)}, files...)...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGINT) }
	c.WaitDelay = 10 * time.Second
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s gate --update: %w", g.program, err)
	}
	now, err := readBaseline(made)
	if err != nil {
		return err
	}
	now.Upstream = before.Upstream
	return errors.Join(writeBaseline(made, now), os.WriteFile(made+".of", []byte(g.committed), 0o666))
}

func readBaseline(path string) (*baseline.Baseline, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := baseline.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

func writeBaseline(path string, b *baseline.Baseline) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(baseline.Write(f, b), f.Close())
}
