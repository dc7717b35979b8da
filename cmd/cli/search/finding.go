package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/outfile"
	"ipamsim/cmd/cli/running"
	"ipamsim/fuzz/campaign/worker"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/confirm"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/shrink"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
)

// findingFlags are the flags of finding as typed.
type findingFlags struct {
	managers              scenarios.Managers
	target, scenario, dir string
}

func FindingCommand(m scenarios.Managers) *cobra.Command {
	f := &findingFlags{managers: m}
	cmd := &cobra.Command{
		Use:   "finding CRASHFILE… --out DIR",
		Short: "convert crash files of go test -fuzz to findings",
		Long: `Convert crash files of go test -fuzz to findings: each input is run on etcd; its first
violation with an unknown cause (see fuzz/testdata/known), or else its first violation,
is shrunk and kept as a file for ipamsim replay. The target is the directory of the crash
file, as Go names it, or --target. For a target whose inputs are schedules of one
scenario (ipamsimtest.Fuzz), use --scenario.

Exit: 0 every file became a finding · 2 one did not: no violation, not a crash file, or
it could not run.`,
		Example: `  ipamsim finding fuzz/testdata/fuzz/TARGET/771e938e4458e983 --out findings
  ipamsim finding testdata/fuzz/FuzzSchedule/771e938e4458e983 --scenario scenarios/NAME.yaml --out findings`,
		RunE: func(cmd *cobra.Command, files []string) error {
			crashes, err := f.check(files)
			if err != nil {
				return err
			}
			return running.With(cmd, func(ctx context.Context, r *scenarios.Runner) error {
				var bad []error
				for _, c := range crashes {
					if err := c.keep(ctx, r, cmd.OutOrStdout(), f.dir); err != nil {
						bad = append(bad, fmt.Errorf("%s: %w", c.file, err))
					}
				}
				return several(bad)
			})
		},
	}
	cmd.Flags().StringVar(&f.target, "target", "", "the fuzz target: "+strings.Join(input.Targets(m), ", ")+" (default: the name of a file's directory)")
	cmd.Flags().StringVar(&f.scenario, "scenario", "", "the inputs are schedules of the scenario in `FILE`")
	cmd.Flags().StringVar(&f.dir, "out", "", "write the findings into `DIR`")
	return cmd
}

// several errors are a line each.
func several(bad []error) error {
	if len(bad) == 0 {
		return nil
	}
	return &exit.BadFiles{Errs: bad}
}

// crash is one file of go test -fuzz, loaded.
type crash struct {
	input.Input
	file  string
	world *scenarios.Scenario
}

// check finds everything that is wrong before anything is run.
func (f *findingFlags) check(files []string) ([]crash, error) {
	switch {
	case len(files) == 0:
		return nil, errors.New("no crash file: name files that go test -fuzz wrote, fuzz/testdata/fuzz/TARGET/…")
	case f.dir == "":
		return nil, errors.New("--out: missing, want the directory for the findings")
	case f.scenario != "" && f.target != "":
		return nil, errors.New("--scenario and --target exclude each other")
	}
	var of *scenarios.Scenario
	if f.scenario != "" {
		all, err := running.Load(f.managers, []string{f.scenario})
		if err != nil {
			return nil, err
		}
		of = input.Bounded(all[0])
	}
	var out []crash
	for _, file := range files {
		c, err := f.read(file, of)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, c)
	}
	if err := outfile.Writable(f.dir); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return out, nil
}

func (f *findingFlags) read(file string, of *scenarios.Scenario) (c crash, err error) {
	target := f.target
	text, err := readBounded(file, input.FileMax)
	if err != nil {
		return c, err
	}
	c.file = file
	if of != nil {
		c.world = of
		c.Schedule, err = input.ParseSchedule(text)
		return c, err
	}
	if c.Input, err = input.ParseFile(text); err != nil {
		return c, err
	}
	if target == "" {
		abs, err := filepath.Abs(file)
		if err != nil {
			return c, err
		}
		target = filepath.Base(filepath.Dir(abs))
		if input.CheckTarget(f.managers, target) != nil {
			return c, fmt.Errorf("it is not in the directory of a target; want --target with one of %s", cmp.Or(strings.Join(input.Targets(f.managers), ", "), "the targets of spaces, but there are none"))
		}
	}
	if err := input.CheckTarget(f.managers, target); err != nil {
		return c, fmt.Errorf("--target: %w", err)
	}
	if c.world, err = c.Scenario(f.managers, target); err != nil {
		return c, fmt.Errorf("its world is invalid: %w", opaque{err})
	}
	return c, nil
}

// opaque hides what an error wraps: a line of a scenario file that the user does not have.
type opaque struct{ err error }

func (o opaque) Error() string { return o.err.Error() }

// readBounded reads a file that may be hostile, up to one byte more than it may have.
func readBounded(file string, bytesMax int) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("no regular file"))
	}
	return io.ReadAll(io.LimitReader(f, int64(bytesMax)+1))
}

// failures are those of a run that look like nothing that is known, as the fuzzer sees
// them; if there are none, what breaks first.
func (c crash) failures(ctx context.Context, r *scenarios.Runner) ([]*model.Violation, *reports.Report, error) {
	causes, _, err := known.LoadIf(input.Lists(c.world.Managers(), "")...)
	if err != nil {
		return nil, nil, err
	}
	looksNew := func(rep *reports.Report, v *model.Violation) bool { return causes.Find(cause.Of(rep, v)) == "" }
	rep, err := c.Play(ctx, r, c.world, scenarios.Etcd, looksNew)
	if err != nil {
		return nil, nil, err
	}
	if all := input.Failures(c.world, rep, looksNew); len(all) > 0 || len(rep.Violations) == 0 {
		return all, rep, nil
	}
	if rep, err = c.Play(ctx, r, c.world, scenarios.Etcd, input.AtFirst); err != nil {
		return nil, nil, err
	}
	return input.Failures(c.world, rep, input.AtFirst), rep, nil
}

// keep runs one input and keeps what breaks.
func (c crash) keep(ctx context.Context, r *scenarios.Runner, w io.Writer, dir string) error {
	failures, rep, err := c.failures(ctx, r)
	if err != nil {
		return opaque{err}
	}
	if len(failures) == 0 {
		return fmt.Errorf("no violation: %s, %s", layout.Plural(len(rep.Trace.Steps), "step"), rep.Verdict)
	}
	for _, v := range failures {
		f, how, err := made(ctx, r, c.world, rep, v)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, finding.File(f.Fingerprint))
		if err := outfile.Write(path, f.YAML); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		pages, err := worker.Pages(ctx, r, f)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(pages)) {
			if err := outfile.Write(filepath.Join(dir, name), pages[name]); err != nil {
				return fmt.Errorf("--out: %w", err)
			}
		}
		if _, err := fmt.Fprintf(w, "%s (%s), %d/%d/%d/%d pods/switches/faults/steps%s\n%s\n   ipamsim replay %s\n", f.Invariant, f.Severity,
			f.Pods, f.Switches, f.Faults, f.Steps, how, reports.Clean(f.Sentence), reports.Clean(path)); err != nil {
			return err
		}
		if t := f.RealText(); t != "" {
			if _, err := fmt.Fprintf(w, "   %s\n", t); err != nil {
				return err
			}
		}
		if t := f.Repeated.String(); t != "" {
			if _, err := fmt.Fprintf(w, "   %s\n", t); err != nil {
				return err
			}
		}
	}
	return nil
}

// made returns a finding for a failure. One that cannot be shrunk is kept as recorded.
func made(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, rep *reports.Report, v *model.Violation) (f *finding.Finding, how string, err error) {
	f, err = shrink.Shrink(ctx, r, s, rep, v, shrink.Options{})
	if err == nil {
		f.Real, err = confirm.Try(ctx, r, f, confirm.Options{})
	}
	if !errors.Is(err, shrink.ErrNotAgain) {
		return f, "", err
	}
	f = finding.New(s, rep, v, nil, cause.Of(rep, v))
	f.YAML, err = s.Finding(rep)
	return f, ", as recorded", err
}
