package regression

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/outfile"
	"ipamsim/cmd/cli/running"
	"ipamsim/cmd/cli/terminal"
	"ipamsim/fuzz/versions"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
)

// matrixFlags are the flags of matrix and bisect as typed.
type matrixFlags struct {
	scenarios      []string
	seeds, most    int
	workers        int
	markdown, json string
	dir            string
}

const versionsHelp = `A VERSION is [NAME=]WHAT, and WHAT is the folder of a manager's source (a git clone at
a tag, a fork), a module at a version (MANAGER@v0.9.0, with the last element of its path),
nodeipam or services of a Kubernetes release (services@v1.36.4, built into the release
that ipamsim has), or a program built by make build FORK=… BIN=…. Programs are built
with make in the project's directory. All other modules keep their version; this is
reported.`

func MatrixCommand(m scenarios.Managers) *cobra.Command {
	f := &matrixFlags{}
	cmd := &cobra.Command{
		Use:   "matrix VERSION…",
		Short: "show which versions of an address manager each violation affects",
		Long: `Run scenarios with several versions of an address manager, from the oldest to the
newest, and report in how many runs the violations of each scenario happened, and since
or until which version. Without --scenario, run the manager's scenarios of the library.

` + versionsHelp + `

Another version runs differently, so a single run proves nothing. A version counts as not
affected if runs of the most affected version would have shown the violation (Fisher's
exact test, 1 in 100); "?" is a version without a conclusion, "–" one that lacks a
feature that the scenario needs.

DIR keeps the counts for each program and scenario: the same command continues after an
interruption.

Exit: 0 every version ran · 2 a version could not be built or run, or interrupted.`,
		Example: `  ipamsim matrix MANAGER@v0.9.0 MANAGER@v0.9.3 v0.9.4=bin/ipamsim
  ipamsim matrix v3.31.0=bin/ipamsim v3.31.7=../clone-at-a-tag --scenario scenarios/NAME.yaml --seeds 100`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.matrix(cmd, m, args) },
	}
	f.add(cmd.Flags())
	cmd.Flags().StringSliceVar(&f.scenarios, "scenario", nil, "a scenario or a finding `F` instead of the library; can be repeated")
	cmd.Flags().IntVar(&f.workers, "workers", runtime.NumCPU(), "run `N` at a time")
	cmd.Flags().StringVar(&f.markdown, "markdown", "", "write the table as Markdown to `F`")
	cmd.Flags().StringVar(&f.json, "json", "", "write the counts as a line of JSON for each scenario to `F`")
	return cmd
}

func BisectCommand(m scenarios.Managers) *cobra.Command {
	f := &matrixFlags{workers: 1}
	cmd := &cobra.Command{
		Use:   "bisect FILE VERSION…",
		Short: "find the version of an address manager with which a finding begins or ends",
		Long: `Find the version with which a finding's (or scenario's) violation begins or ends, among
versions from the oldest to the newest. As few versions as possible are built and run. A
fix that was reverted between two of them is not detected; ipamsim matrix runs every
version.

` + versionsHelp + `

Exit: 0 found, or no difference between the versions · 2 no conclusion, or a version
could not be built or run.`,
		Example: `  ipamsim bisect findings/FINGERPRINT.yaml MANAGER@v0.9.0 MANAGER@v0.9.2 MANAGER@v0.9.3 v0.9.4=bin/ipamsim`,
		Args:    cobra.MinimumNArgs(3),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.bisect(cmd, m, args[0], args[1:]) },
	}
	f.add(cmd.Flags())
	return cmd
}

func (f *matrixFlags) add(fl *pflag.FlagSet) {
	fl.IntVar(&f.seeds, "seeds", 20, "run `N` seeds of each scenario at first")
	fl.IntVar(&f.most, "most", 160, "run at most `N` seeds of a scenario with rare violations")
	fl.StringVar(&f.dir, "programs", filepath.Join("bin", "versions"), "build programs in `DIR`, and keep counts there")
}

// check finds what is wrong before anything is built.
func (f *matrixFlags) check(texts []string) ([]versions.Version, error) {
	if f.seeds < 1 || f.most < f.seeds || f.most > running.SeedsMax {
		return nil, fmt.Errorf("--seeds %d, --most %d: want 1 or more, and not more than --most, which is at most %d", f.seeds, f.most, running.SeedsMax)
	}
	if f.workers < 1 {
		return nil, fmt.Errorf("--workers: want at least 1, have %d", f.workers)
	}
	var all []versions.Version
	for _, text := range texts {
		v, err := versions.Parse(text, f.dir)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o versions.Version) bool { return o.Name == v.Name }) {
			return nil, fmt.Errorf("%q: there is another version called %s; give it another name, NAME=…", text, v.Name)
		}
		all = append(all, v)
	}
	return all, nil
}

func (f *matrixFlags) matrix(cmd *cobra.Command, m scenarios.Managers, args []string) error {
	all, err := f.check(args)
	if err != nil {
		return err
	}
	cases, err := f.cases(m, all)
	if err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	ctx, stop := exit.InterruptibleFor(10*time.Second, stderr, func() {})
	defer stop()
	for _, v := range all {
		if err := build(ctx, stderr, v); err != nil {
			return err
		}
	}
	fmt.Fprintf(stderr, "ipamsim: %s, %d versions\n", layout.Plural(len(cases), "scenario"), len(all))
	bar := terminal.NewProgress(stderr, len(cases)*len(all))
	c := &versions.Comparison{Versions: all, Seeds: f.seeds, Most: f.most, Workers: f.workers, Kept: f.kept(), Done: bar.Add}
	rows := c.Run(ctx, cases)
	bar.Finish()
	rows = slices.DeleteFunc(rows, func(r versions.Row) bool { return !r.Whole() })
	t, quiet := versions.Table(all, rows)
	fmt.Fprintln(cmd.OutOrStdout(), t.Text())
	if quiet > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "and %s without a violation in any version\n", layout.Plural(quiet, "scenario"))
	}
	lacking := versions.Lacking(all, rows)
	for _, line := range lacking {
		fmt.Fprintln(cmd.OutOrStdout(), line)
	}
	if f.markdown != "" {
		text := strings.Join(append([]string{t.Markdown()}, lacking...), "\n\n")
		err = outfile.WriteTo("markdown", f.markdown, func(w io.Writer) error { _, err := fmt.Fprintln(w, text); return err })
	}
	if f.json != "" {
		err = errors.Join(err, outfile.WriteTo("json", f.json, func(w io.Writer) error { return countLines(w, all, rows) }))
	}
	if err = errors.Join(err, failedRuns(all, rows)); err == nil && len(rows) < len(cases) {
		err = fmt.Errorf("interrupted: %d of %s are counted; the same command continues", len(rows), layout.Plural(len(cases), "scenario"))
	}
	return err
}

// kept are the counts beside the programs that were built.
func (f *matrixFlags) kept() *versions.Kept {
	return &versions.Kept{Dir: filepath.Join(f.dir, "counts")}
}

func (f *matrixFlags) bisect(cmd *cobra.Command, m scenarios.Managers, file string, args []string) error {
	all, err := f.check(args)
	if err != nil {
		return err
	}
	loaded, err := running.Load(m, []string{file})
	if err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	ctx, stop := exit.Interruptible(stderr, func() {})
	defer stop()
	c := &versions.Comparison{Versions: all, Seeds: f.seeds, Most: f.most, Kept: f.kept()}
	of := caseOf(loaded[0])
	if err := f.onDisk(&of); err != nil {
		return err
	}
	row, err := c.Bisect(ctx, &of, func(v versions.Version) error {
		if err := build(ctx, stderr, v); err != nil {
			return err
		}
		fmt.Fprintf(stderr, "ipamsim: %s runs %s\n", v.Name, of.Name)
		return nil
	})
	if err != nil {
		return err
	}
	// What did not have to run stands in no table.
	var ran []versions.Version
	shown := versions.Row{Case: row.Case}
	for i, n := range row.Cells {
		if n.Runs > 0 || n.Err != "" || n.Lacks != "" {
			ran, shown.Cells = append(ran, all[i]), append(shown.Cells, n)
		}
	}
	t, quiet := versions.Table(ran, []versions.Row{shown})
	if quiet > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: no violation with %s or %s\n", of.Name, ran[0].Name, ran[len(ran)-1].Name)
		return nil
	}
	fmt.Fprintln(cmd.OutOrStdout(), strings.Join(append([]string{t.Text()}, versions.Lacking(ran, []versions.Row{shown})...), "\n"))
	if err := failedRuns(ran, []versions.Row{shown}); err != nil {
		return err
	}
	if slices.Contains(shown.Marks(), versions.Unknown) {
		return fmt.Errorf("%s: no conclusion for a version; increase --seeds and --most", of.Name)
	}
	return nil
}

// build makes a version's program, if it has a source.
func build(ctx context.Context, out io.Writer, v versions.Version) error {
	if v.Source != "" {
		fmt.Fprintf(out, "ipamsim: building %s of %s\n", v.Name, v.Source)
	}
	return versions.Build(ctx, out, v)
}

// cases are the scenarios to compare: those that were named, or those of the library that
// run the manager of one of the versions.
func (f *matrixFlags) cases(m scenarios.Managers, all []versions.Version) ([]versions.Case, error) {
	files := f.scenarios
	if len(files) == 0 {
		var err error
		if files, err = running.Library(m, true, nil); err != nil {
			return nil, err
		}
	}
	loaded, err := running.Load(m, files)
	if err != nil {
		return nil, err
	}
	var out []versions.Case
	for _, s := range loaded {
		c := caseOf(s)
		about := len(s.References()) == 0 && slices.ContainsFunc(all, func(v versions.Version) bool { return v.Of(s.Doc.Spec.IPAM, c.Manager) })
		if !about && len(f.scenarios) == 0 {
			continue
		}
		if err := f.onDisk(&c); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, errors.New("the library has no scenario for these managers; use --scenario F")
	}
	return out, nil
}

func caseOf(s *scenarios.Scenario) versions.Case {
	c := versions.Case{File: s.File, Name: s.Name(), Manager: s.Upstream(), Recorded: s.Doc.Spec.Schedule != nil}
	if e := s.Doc.Spec.Expect; e != nil {
		c.Violations = slices.Clone(e.Violations)
	}
	return c
}

// onDisk writes a scenario of the program's library to a file: other versions may have another
// text under its name.
func (f *matrixFlags) onDisk(c *versions.Case) error {
	text, ok := scenarios.InLibrary(c.File)
	if !ok {
		return nil
	}
	c.File = filepath.Join(f.dir, "scenarios", c.Name+".yaml")
	return errors.Join(os.MkdirAll(filepath.Dir(c.File), 0o777), outfile.Write(c.File, text))
}

// failedRuns names the first that could not run of each version.
func failedRuns(all []versions.Version, rows []versions.Row) error {
	var bad []string
	for i, v := range all {
		for _, r := range rows {
			if e := r.Cells[i].Err; e != "" {
				bad = append(bad, fmt.Sprintf("%s, %s: %s", v.Name, r.Case.Name, e))
				break
			}
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return errors.New(strings.Join(bad, "\n"))
}

// countLines writes a line of JSON for each scenario: its name, its violations, and for
// each version in how many of how many runs one of them happened.
func countLines(w io.Writer, all []versions.Version, rows []versions.Row) error {
	type cell struct {
		Version string `json:"version"`
		Runs    int    `json:"runs"`
		Broken  int    `json:"broken"`
		Error   string `json:"error,omitempty"`
		Lacks   string `json:"lacks,omitempty"`
	}
	e := json.NewEncoder(w)
	for _, r := range rows {
		line := struct {
			Scenario   string   `json:"scenario"`
			Violations []string `json:"violations"`
			Versions   []cell   `json:"versions"`
		}{r.Case.Name, r.Case.Violations, nil}
		for i, n := range r.Cells {
			line.Versions = append(line.Versions, cell{all[i].Name, n.Runs, n.Broken, n.Err, n.Lacks})
		}
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
