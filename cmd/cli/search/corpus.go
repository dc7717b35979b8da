package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/outfile"
	"ipamsim/cmd/cli/running"
	"ipamsim/fuzz/input"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// corpusFlags are the flags of corpus as typed.
type corpusFlags struct {
	managers    scenarios.Managers
	target, dir string
}

func CorpusCommand(m scenarios.Managers) *cobra.Command {
	f := &corpusFlags{managers: m}
	cmd := &cobra.Command{
		Use:   "corpus FINDING… --target NAME",
		Short: "convert findings to seeds for go test -fuzz",
		Long: `Convert findings to seeds for go test -fuzz: the world as a scenario file, and the
schedule as bytes. The fuzzer starts with them; go test ./fuzz runs them. A scenario
without a schedule is run with its own seed.

Exit: 0 every file became a seed · 2 one did not: it does not replay as recorded,
or could not run.`,
		Example: `  ipamsim corpus findings/0de71b8f6f9d.yaml --target TARGET`,
		RunE: func(cmd *cobra.Command, files []string) error {
			all, err := f.check(files)
			if err != nil {
				return err
			}
			return running.With(cmd, func(ctx context.Context, r *scenarios.Runner) error {
				for _, s := range all {
					if err := writeSeed(ctx, r, s, cmd.OutOrStdout(), f.dir); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&f.target, "target", "", "the fuzz target: "+strings.Join(input.Targets(m), ", "))
	cmd.Flags().StringVar(&f.dir, "out", "", "write the seeds into `DIR` (default fuzz/testdata/fuzz/TARGET)")
	return cmd
}

// check finds everything that is wrong before anything is run.
func (f *corpusFlags) check(files []string) ([]*scenarios.Scenario, error) {
	if len(files) == 0 {
		return nil, errors.New("no finding: name the files of findings")
	}
	if err := input.CheckTarget(f.managers, f.target); f.target == "" {
		return nil, fmt.Errorf("--target: missing, want one of %s", strings.Join(input.Targets(f.managers), ", "))
	} else if err != nil {
		return nil, fmt.Errorf("--target: %w", err)
	}
	all, err := running.Load(f.managers, files)
	if err != nil {
		return nil, err
	}
	if f.dir == "" {
		f.dir = filepath.Join("fuzz", "testdata", "fuzz", f.target)
		if _, err := os.Stat(filepath.Dir(f.dir)); err != nil {
			return nil, errors.New("--out: missing, and there is no fuzz/testdata/fuzz here; run it in the project's directory, or name one")
		}
	}
	if err := outfile.Writable(f.dir); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return all, nil
}

// writeSeed runs a finding and writes it down as an input.
func writeSeed(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, w io.Writer, dir string) error {
	rec := s.Doc.Spec.Schedule
	in, rep, err := input.Record(ctx, r, s, scenarios.Options{Recorded: rec != nil})
	if err != nil {
		return fmt.Errorf("%s: %w", s.File, err)
	}
	if rec != nil && rep.Digest != rec.Digest {
		return fmt.Errorf("%s: it does not replay as recorded: digest %s; recorded: %s", s.File, rep.Digest, rec.Digest)
	}
	path := filepath.Join(dir, in.FileName())
	if err := outfile.Write(path, in.File()); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s\n", reports.Clean(path))
	return err
}
