// Package running has what commands that run scenarios share: their files, the store, a runner.
package running

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// Library resolves --all.
func Library(all bool, files []string) ([]string, error) {
	switch {
	case all && len(files) > 0:
		return nil, errors.New("--all and files exclude each other")
	case !all && len(files) == 0:
		return nil, errors.New("nothing to run: name scenario files, or --all for the library")
	case !all:
		return files, nil
	}
	files, err := filepath.Glob(filepath.Join("scenarios", "*.yaml"))
	files = slices.DeleteFunc(files, isLink) // another name for a scenario that is there
	if err == nil && len(files) == 0 {
		err = errors.New("--all: no scenarios/*.yaml here; run it in the project's directory, or name the files")
	}
	return files, err
}

func isLink(file string) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}
