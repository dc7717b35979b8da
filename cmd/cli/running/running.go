// Package running has what commands that run scenarios share: their files, the store, a runner.
package running

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/scenarios"
)

// Stores are those there are.
const Stores = scenarios.Etcd + " or " + scenarios.Memory

func CheckStore(name string) error {
	if name != scenarios.Etcd && name != scenarios.Memory {
		return fmt.Errorf("--store: unknown store %q, want %s", name, Stores)
	}
	return nil
}

// SeedsMax is more than a year of runs.
const SeedsMax = 1_000_000_000

// Load reads every file, so that a mistake in the last one is found before
// the first is run. Each file that cannot be used is one line of the error.
func Load(m scenarios.Managers, files []string) ([]*scenarios.Scenario, error) {
	var out []*scenarios.Scenario
	var bad []error
	seen := map[string]bool{}
	for _, f := range files {
		real := f
		if p, err := filepath.EvalSymlinks(f); err == nil {
			real = filepath.Clean(p)
		}
		if seen[real] {
			continue
		}
		seen[real] = true
		s, err := m.Load(f)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		out = append(out, s)
	}
	if len(bad) > 0 {
		return nil, &exit.BadFiles{Errs: bad}
	}
	return out, nil
}

// With does work that needs an etcd, until it ends or is interrupted.
func With(cmd *cobra.Command, work func(context.Context, *scenarios.Runner) error) error {
	scenarios.Tune()
	runner, err := scenarios.NewRunner()
	if err != nil {
		return err
	}
	closeOnce := sync.OnceValue(runner.Close)
	ctx, stop := exit.Interruptible(cmd.ErrOrStderr(), func() { _ = closeOnce() })
	defer stop()
	return errors.Join(work(ctx, runner), closeOnce())
}

// Library resolves --all: the scenarios in ./scenarios, or else those in the program.
func Library(m scenarios.Managers, all bool, files []string) ([]string, error) {
	switch {
	case all && len(files) > 0:
		return nil, errors.New("--all and files exclude each other")
	case !all && len(files) == 0:
		return nil, errors.New("nothing to run: name scenario files, or --all for the library")
	case !all:
		return files, nil
	}
	files = here()
	if len(files) == 0 {
		for _, s := range m.Library("") {
			files = append(files, s.Name)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("--all: no scenarios/*.yaml here, and the program has none for its managers; name the files")
	}
	return files, nil
}

// AllInLibrary reports whether the scenarios of these files, or of all without files, are
// those of the program.
func AllInLibrary(files []string) bool {
	if len(files) == 0 {
		return len(here()) == 0
	}
	return !slices.ContainsFunc(files, func(f string) bool {
		_, ok := scenarios.InLibrary(f)
		return !ok
	})
}

// here returns the files of ./scenarios.
func here() []string {
	files, _ := filepath.Glob(filepath.Join("scenarios", "*.yaml")) // the pattern is well-formed
	return files
}
