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
		Short: "compare the library with what it came to before",
		Long: `Run the library, or FILEs of it, with fixed seeds and compare with a baseline:
which invariants are violated, whether the same run twice is the same (that of a
scenario's own seed, if it has at most 2,500 steps; --twice: all), and what it
costs (API calls, conflicts, virtual time, addresses, blocks, routes).

Red: a violation that is new or more frequent, one that vanished though upstream is
the same, a run that is not the same twice or cannot be done, a cost that is higher
by more than the baseline allows, a scenario that is missing, a stored finding that
cannot be followed any more. Green, and told: a violation that another upstream
fixed, a lower cost, a new scenario. Fixed is the same course of events without the
violation: no ADD more is refused, no run ends unknown, nothing costs more. Anything
else is "changed, look", and red. Runs that take another course than before are
compared with what chance does over many seeds. A scenario that is red whatever its
other runs show is run no more. What there is no time for (--budget) is left out by
name, and not green.

Of a fork, worlds that no scenario names are searched, too (--search): a violation
whose cause is none of fuzz/testdata/known is red, and kept as a file that replays.
Of what looks like a cause that a scenario shows some failures are made small, too;
one that comes to another cause is red as well.

Exit: 0 as the baseline, or better · 1 a regression · 2 could not run or
judge everything.`,
		Example: `  ipamsim gate
  ipamsim gate scenarios/NAME.yaml
  ipamsim gate --junit gate.xml --sarif gate.sarif --markdown gate.md
  ipamsim gate --update`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if f.update && cmd.Flags().Changed("budget") {
				return errors.New("--update and --budget exclude each other: half of a baseline is none")
			}
			if f.brief && (f.update || f.twice || f.search > 0) {
				return errors.New("--brief: each run once, without an update or a search; leave out --update, --twice and --search")
			}
			if cmd.Flags().Changed("seeds") && (!f.update || f.seeds < 1) {
				return errors.New("--seeds: makes sense with --update only, and wants at least 1")
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
	fl.StringVar(&f.findings, "findings", "", "replay the findings in `DIR`, too: *.yaml")
	fl.BoolVar(&f.update, "update", false, "rewrite the baseline, and say what changed (takes longer: many seeds)")
	fl.BoolVar(&f.brief, "brief", false, "each run once, in the order of FILEs, until a scenario is worse: no proof of green")
	fl.BoolVar(&f.twice, "twice", false, "each run twice, on etcd and in memory, and not only those of the scenarios' own seeds of at most 2,500 steps; --update does so")
	fl.IntVar(&f.seeds, "seeds", 0, "with --update: at most `N` seeds of each scenario (default 12 to 100, by its length)")
	fl.DurationVar(&f.budget, "budget", budgetUsual, "stop after this time, and say what was left out (90s, 10m); 0: never")
	fl.DurationVar(&f.search, "search", 0, "search so long for failures whose cause is not known, in worlds that no scenario names (default of a fork: the fuzzer's corpora, 30s at most; else none)")
	fl.Uint64Var(&f.first, "first", 0, "begin the search with the worlds of seed `N`, without the corpora")
	fl.IntVar(&f.kinds, "kinds", 3, "end the search after `N` kinds of failure")
	fl.StringVar(&f.dir, "out", filepath.Join("findings", "gate"), "write what the search finds into `DIR`, as files that replay")
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
		{"sarif", "write it as SARIF 2.1.0 to `F`, for code scanning", baseline.SARIF},
		{"markdown", "write it as Markdown to `F`, for a job's summary", baseline.Markdown},
		{"json", "write what moved as JSON to `F`, for programs", baseline.JSON},
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
		return nil, errors.New("gate: built on the stock Go runtime, where a run is no function of its seed and nothing can be compared; make build uses the hermetic one")
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
	g.Progress = bar.tell
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

// onGitHub tells GitHub Actions, if this runs there: annotations on stdout and the
// summary of the job.
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
		return errors.New("gate --update: some scenarios could not be run, or not twice the same, see above; the baseline is as it was")
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

func (b *gateBar) tell(done, all int) {
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
