// Package regression has the commands that compare versions: gate, matrix, bisect.
package regression

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/outfile"
	"ipamsim/cmd/cli/running"
	"ipamsim/cmd/cli/terminal"
	"ipamsim/fuzz/gate"
	"ipamsim/fuzz/known"
	"ipamsim/reports"
	"ipamsim/reports/baseline"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
)

// gateFlags are the flags of gate as typed.
type gateFlags struct {
	managers           scenarios.Managers
	baseline, findings string
	update             bool
	brief, twice       bool
	workers, seeds     int
	budget, search     time.Duration
	first              uint64
	kinds              int
	dir                string
	forms              map[string]*string
}

func GateCommand(m scenarios.Managers) *cobra.Command {
	f := &gateFlags{managers: m, forms: map[string]*string{}}
	cmd := &cobra.Command{
		Use:   "gate [FILE…]",
		Short: "compare the scenario library with a baseline",
		Long: `Run the library, or FILEs of it, with fixed seeds and compare with a baseline:
the violated invariants, whether repeated runs are identical (of a scenario's own seed,
if the run has at most 2,500 steps; --twice: of all seeds), and the costs (API calls,
conflicts, virtual time, addresses, blocks, routes).

Red: a violation that is new or more frequent, or that disappeared with the same
upstream; a run that fails or differs when repeated; a cost above the tolerance of the
baseline; a missing scenario; a stored finding that no longer replays. Green, and listed:
a violation that another upstream fixed, a lower cost, a new scenario. A violation is
fixed if the events are the same without it: no further ADD is refused, no run ends
unknown, no cost is higher. Any other difference is "changed, review", and red. If the
messages of a run differ, the differences between many seeds decide. A scenario
that is certainly red is not run further. Scenarios for which there is no time (--budget)
are listed as skipped, and are not green.

For a fork, generated worlds are searched as well (--search): a violation with a cause
that is not in fuzz/testdata/known is red, and kept as a replayable file. Some failures
with the signature of a known cause are shrunk, too; if the cause turns out to be
another one, that is red as well.

Exit: 0 like the baseline, or better · 1 a regression · 2 could not run or judge
everything.`,
		Example: `  ipamsim gate
  ipamsim gate scenarios/NAME.yaml
  ipamsim gate --junit gate.xml --sarif gate.sarif --markdown gate.md
  ipamsim gate --update`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if f.update && cmd.Flags().Changed("budget") {
				return errors.New("--update and --budget exclude each other: a partial baseline is useless")
			}
			if f.brief && (f.update || f.twice || f.search > 0) {
				return errors.New("--brief excludes --update, --twice and --search")
			}
			if cmd.Flags().Changed("seeds") && (!f.update || f.seeds < 1) {
				return errors.New("--seeds requires --update, and at least 1")
			}
			g, err := f.check(files)
			if err != nil {
				return err
			}
			if !f.brief && !cmd.Flags().Changed("search") && len(gate.Forks(g.Scenarios)) > 0 {
				g.Search.Time, g.Search.Drawn = searchUsual, false
			}
			return f.run(cmd, g)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.baseline, "baseline", baselineUsual, "compare with `F`")
	fl.StringVar(&f.findings, "findings", "", "also replay the findings *.yaml in `DIR`")
	fl.BoolVar(&f.update, "update", false, "rewrite the baseline, and report the changes (takes longer: many seeds)")
	fl.BoolVar(&f.brief, "brief", false, "run each once, in the order of FILEs, until a scenario is worse; does not prove green")
	fl.BoolVar(&f.twice, "twice", false, "repeat every run, on etcd and in memory, not only those of the scenarios' own seeds of at most 2,500 steps; --update implies it")
	fl.IntVar(&f.seeds, "seeds", 0, "with --update: at most `N` seeds of each scenario (default 12 to 100, by its length)")
	fl.DurationVar(&f.budget, "budget", budgetUsual, "stop after this time, and report what was skipped (90s, 10m); 0: never")
	fl.DurationVar(&f.search, "search", 0, "search generated worlds for this time for failures with an unknown cause (default for a fork: the fuzzer's corpora, 30s at most; otherwise none)")
	fl.Uint64Var(&f.first, "first", 0, "start the search with seed `N`, without the corpora")
	fl.IntVar(&f.kinds, "kinds", 3, "end the search after `N` kinds of failure")
	fl.StringVar(&f.dir, "out", filepath.Join("findings", "gate"), "write the findings of the search into `DIR`, as replayable files")
	fl.IntVar(&f.workers, "workers", runtime.NumCPU(), "run `N` at a time")
	for _, form := range gateForms() {
		f.forms[form.flag] = fl.String(form.flag, "", form.usage)
	}
	return cmd
}

// budgetUsual is some times what the library takes on two processors.
const budgetUsual = 30 * time.Minute

// baselineUsual is where a library has its baseline.
var baselineUsual = filepath.Join("scenarios", "baseline.json")

// searchUsual is some hundreds of worlds on two processors.
const searchUsual = 30 * time.Second

// compareWith returns the baseline. Without a file of that name, scenarios of the program's
// library are compared with the program's own baseline.
func (f *gateFlags) compareWith(files []string) (*baseline.Baseline, error) {
	b, err := baseline.Load(f.baseline)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.update:
		return &baseline.Baseline{Format: baseline.Format}, nil
	case errors.Is(err, fs.ErrNotExist) && f.baseline == baselineUsual && running.AllInLibrary(files):
		return baseline.Read(bytes.NewReader(scenarios.Baseline()))
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--baseline: %w; ipamsim gate --update writes one", err)
	case err != nil:
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	return b, nil
}

// gateForm is a form in which an outcome can be written to a file.
type gateForm struct {
	flag, usage string
	write       func(io.Writer, *baseline.Outcome) error
}

func gateForms() []gateForm {
	return []gateForm{
		{"junit", "write the outcome as JUnit XML to `F`", baseline.JUnit},
		{"sarif", "write the outcome as SARIF 2.1.0 to `F`, for code scanning", baseline.SARIF},
		{"markdown", "write the outcome as Markdown to `F`, for a job's summary", baseline.Markdown},
		{"json", "write the differences as JSON to `F`", baseline.JSON},
	}
}

// check finds everything that is wrong before anything is run.
func (f *gateFlags) check(files []string) (*gate.Gate, error) {
	if f.workers < 1 {
		return nil, fmt.Errorf("--workers: want at least 1, have %d", f.workers)
	}
	if f.seeds < 0 {
		return nil, fmt.Errorf("--seeds: want at least 0, have %d", f.seeds)
	}
	if f.budget < 0 {
		return nil, fmt.Errorf("--budget: want at least 0, have %s", f.budget)
	}
	if f.search < 0 {
		return nil, fmt.Errorf("--search: want at least 0, have %s", f.search)
	}
	if f.kinds < 1 {
		return nil, fmt.Errorf("--kinds: want at least 1, have %d", f.kinds)
	}
	if !hermetic.Enabled {
		return nil, errors.New("gate: built on the stock Go runtime, where runs with the same seed may differ and cannot be compared; make build uses the hermetic runtime")
	}
	g := &gate.Gate{Parallel: f.workers, All: len(files) == 0, SeedsMax: f.seeds, Twice: f.twice, Budget: f.budget, Search: gate.Search{Time: f.search, Dir: f.dir, Known: known.Dir, Drawn: true, First: f.first, Kinds: f.kinds}}
	var err error
	if g.Baseline, err = f.compareWith(files); err != nil {
		return nil, err
	}
	if g.All {
		if f.update && running.AllInLibrary(nil) {
			return nil, errors.New("gate --update: no scenarios/*.yaml here; run it in the project's directory, or name the files")
		}
		if files, err = running.Library(f.managers, true, nil); err != nil {
			return nil, err
		}
	}
	if f.findings != "" {
		more, err := filepath.Glob(filepath.Join(f.findings, "*.yaml"))
		if err == nil && len(more) == 0 {
			err = errors.New("no *.yaml in it")
		}
		if err != nil {
			return nil, fmt.Errorf("--findings: %s: %w", f.findings, err)
		}
		files = append(files, more...)
	}
	if g.Scenarios, err = running.Load(f.managers, files); err != nil {
		return nil, err
	}
	if f.search > 0 {
		all, _ := running.Library(f.managers, true, nil) // without one there is nothing more to search
		if g.Search.Library, err = running.Load(f.managers, all); err != nil {
			return nil, err
		}
	}
	names := map[string]string{}
	for _, s := range g.Scenarios {
		name := gate.Name(s)
		if other := names[name]; other != "" {
			return nil, fmt.Errorf("gate: %s and %s are both named %q", other, s.File, name)
		}
		names[name] = s.File
	}
	return g, nil
}

// run does the work, with everything that is to be written opened before.
func (f *gateFlags) run(cmd *cobra.Command, g *gate.Gate) error {
	stderr := cmd.ErrOrStderr()
	var out []*outfile.File
	discard := func() {
		for _, x := range out {
			x.Discard()
		}
	}
	forms := gateForms()
	for _, form := range forms {
		x, err := outfile.Create(*f.forms[form.flag])
		if err != nil {
			discard()
			return fmt.Errorf("--%s: %w", form.flag, err)
		}
		out = append(out, x)
	}
	ctx, stop := exit.Interruptible(stderr, discard)
	defer stop()
	fmt.Fprintf(stderr, "ipamsim: gate of %s, %d at a time\n", layout.Plural(len(g.Scenarios), "scenario"), g.Parallel)
	bar := newGateBar(stderr)
	g.Progress = bar.show
	var o *baseline.Outcome
	var next *baseline.Baseline
	var err error
	switch {
	case f.update:
		next, o, err = g.Update(ctx)
	case f.brief:
		o, err = g.Brief(ctx)
	default:
		o, err = g.Run(ctx)
	}
	bar.finish()
	if err != nil {
		discard()
		if ctx.Err() != nil {
			err = errors.New("interrupted; nothing was written")
		}
		return err
	}
	for i, form := range forms {
		if out[i] == nil {
			continue
		}
		if err := errors.Join(form.write(out[i], o), out[i].Commit()); err != nil {
			return fmt.Errorf("--%s: %w", form.flag, err)
		}
	}
	if err := baseline.Text(cmd.OutOrStdout(), o); err != nil {
		return err
	}
	if err := onGitHub(cmd.OutOrStdout(), o); err != nil {
		return err
	}
	if f.update {
		return f.write(stderr, next, o)
	}
	return verdict(o)
}

// onGitHub writes annotations to stdout and the summary of the job, if this runs in GitHub Actions.
func onGitHub(stdout io.Writer, o *baseline.Outcome) error {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	if err := baseline.Annotations(stdout, o); err != nil {
		return err
	}
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err)
	}
	return errors.Join(baseline.Markdown(file, o), file.Close())
}

// write the baseline of an update.
func (f *gateFlags) write(stderr io.Writer, b *baseline.Baseline, o *baseline.Outcome) error {
	if cannot(o) {
		return errors.New("gate --update: some scenarios could not be run, or differed when repeated, see above; the baseline is unchanged")
	}
	file, err := outfile.Create(f.baseline)
	if err == nil {
		if err = baseline.Write(file, b); err != nil {
			file.Discard()
		} else {
			err = file.Commit()
		}
	}
	if err != nil {
		return fmt.Errorf("--baseline: %w", err)
	}
	fmt.Fprintf(stderr, "ipamsim: %s has %s now\n", reports.Clean(f.baseline), layout.Plural(len(b.Scenarios), "scenario"))
	return nil
}

// cannot: something proves nothing, and no baseline.
func cannot(o *baseline.Outcome) bool {
	return slices.ContainsFunc(o.Rows, func(r baseline.Row) bool {
		return slices.ContainsFunc(r.Changes, func(c baseline.Change) bool { return c.Kind == baseline.CannotRun || c.Kind == baseline.Nondeterminism })
	})
}

// verdict is the exit code: 2 if all that is red is that ipamsim could not do it.
func verdict(o *baseline.Outcome) error {
	code := exit.Expected
	for i := range o.Rows {
		for _, c := range o.Rows[i].Changes {
			switch {
			case c.Regression && c.Kind != baseline.CannotRun && c.Kind != baseline.LeftOut:
				return &exit.Error{Code: exit.Violation}
			case c.Regression:
				code = exit.Cannot
			}
		}
	}
	if code == exit.Expected {
		return nil
	}
	return &exit.Error{Code: code}
}

// gateBar is a bar on a terminal; elsewhere a line now and then.
type gateBar struct {
	stderr io.Writer
	bar    *progressbar.ProgressBar
	last   time.Time
}

func newGateBar(stderr io.Writer) *gateBar {
	return &gateBar{stderr: stderr}
}

func (b *gateBar) show(done, all int) {
	switch {
	case terminal.Is(b.stderr):
		if b.bar == nil {
			b.bar = terminal.NewProgress(b.stderr, max(all, 2)).Bar
		}
		b.bar.ChangeMax(max(all, 2))
		_ = b.bar.Set(done)
	case time.Since(b.last) > terminal.LineEvery:
		b.last = time.Now()
		fmt.Fprintf(b.stderr, "ipamsim: %d of %d runs\n", done, all)
	}
}

func (b *gateBar) finish() {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
}
