package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/outfile"
	"ipamsim/cmd/cli/terminal"
	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/verify"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/reports/timeline"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/por"
)

// verifyFlags are the flags of verify as typed.
type verifyFlags struct {
	managers        scenarios.Managers
	bounds          por.Bounds
	probes, workers int
	time            time.Duration
	dir             string
}

func verifyCommand(m scenarios.Managers) *cobra.Command {
	f := &verifyFlags{managers: m}
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "check every schedule of a scenario within bounds",
		Long: `Check every schedule of a small scenario within bounds: at most --preemptions switches to
another process while the current one could continue, at most --faults faults, and at
most --reorders messages delivered before an earlier one of the same process. Time passes
only when no message can be delivered. Schedules that differ only in the order of
independent messages are run once (sim/por/README.md defines dependence, and what is not
a choice). The simple controllers run unless the scenario names others.

DIR keeps the runs: the same command continues an interrupted search.

Exit: 0 every schedule was checked, with only the violations that the scenario expects ·
1 an unexpected violation: DIR has the shortest schedule, to replay · 2 incomplete:
interrupted, out of time, or could not continue; or complete, but a violation that the
scenario expects does not occur within these bounds.`,
		Example: `  ipamsim verify two-pods.yaml
  ipamsim verify two-pods.yaml --preemptions 1 --faults 1 --time 10m`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(cmd, args[0])
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&f.bounds.Preemptions, "preemptions", 2, "at most `N` switches away from a process that could continue")
	fl.IntVar(&f.bounds.Faults, "faults", 0, "at most `N` of the faults that the scenario allows")
	fl.IntVar(&f.bounds.Reorders, "reorders", 2, fmt.Sprintf("at most `N` messages delivered before an earlier one of the same process; %d: any order", por.Any))
	fl.DurationVar(&f.time, "time", 0, "stop after `D`, e.g. 10m (default: when every schedule is checked)")
	fl.IntVar(&f.workers, "workers", runtime.NumCPU(), "number of processes")
	fl.IntVar(&f.probes, "probes", 40, "run `N` random schedules before and after, to learn and check which messages are dependent")
	fl.StringVar(&f.dir, "out", "", "keep the runs and findings in `DIR` (default verified/NAME)")
	return cmd
}

func (f *verifyFlags) check() error {
	for _, n := range []struct {
		flag     string
		is, most int
	}{{"preemptions", f.bounds.Preemptions, 100}, {"faults", f.bounds.Faults, 10}, {"reorders", f.bounds.Reorders, por.Any}, {"probes", f.probes, 100_000}} {
		if n.is < 0 || n.is > n.most {
			return fmt.Errorf("--%s: want 0 to %d, have %d", n.flag, n.most, n.is)
		}
	}
	if f.workers < 1 {
		return fmt.Errorf("--workers: want at least 1, have %d", f.workers)
	}
	if f.time < 0 {
		return fmt.Errorf("--time: must not be negative, have %v", f.time)
	}
	return nil
}

func (f *verifyFlags) run(cmd *cobra.Command, file string) error {
	text, err := scenarios.ReadFile(file)
	if err != nil {
		return err
	}
	s, err := f.managers.Parse(file, text)
	if err != nil {
		return err
	}
	if !hermetic.Enabled {
		return errors.New("verify requires the hermetic Go runtime (make build): on the stock runtime a schedule does not determine a run")
	}
	if f.dir == "" {
		f.dir = filepath.Join("verified", strings.TrimLeft(outfile.Unsafe.ReplaceAllString(s.Name(), "_"), "."))
	}
	build, err := queue.Build()
	if err != nil {
		return err
	}
	causes, listed, err := known.LoadIf(input.ListsFor(f.managers, s.Doc.Spec.IPAM)...)
	if err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	ctx, stop := exit.InterruptibleFor(10*time.Second, stderr, func() {})
	defer stop()
	if f.time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.time, fmt.Errorf("out of time after %v", f.time))
		defer cancel()
	}
	began := time.Now()
	out, err := verify.Run(ctx, verify.Config{
		Managers: f.managers, File: file, Text: text, Bounds: f.bounds, Workers: f.workers, Command: "verify-process",
		Dir: f.dir, Build: build, Probes: f.probes, OnProgress: verifyProgress(stderr, began),
	})
	if err != nil {
		return &exit.Error{Code: exit.Cannot, Err: err}
	}
	looksLike := ""
	if out.Broken != nil && listed {
		looksLike = known.Words(causes.Find(cause.Of(out.Report, out.Broke)))
	}
	return f.report(cmd.OutOrStdout(), out, time.Since(began), looksLike)
}

// verifyProgress prints a line every few seconds.
func verifyProgress(stderr io.Writer, began time.Time) func(por.Progress) {
	last := time.Now()
	return func(p por.Progress) {
		if time.Since(last) < terminal.LinesEvery {
			return
		}
		last = time.Now()
		fmt.Fprintf(stderr, "ipamsim: %v: %s, %d to do that are known, at %s\n", time.Since(began).Round(time.Second),
			layout.Plural(p.Runs, "run"), p.Open, allows(p.Bounds))
	}
}

// report prints the result, with the known cause that an unexpected violation resembles, if there
// are lists of known causes.
func (f *verifyFlags) report(w io.Writer, o *verify.Outcome, took time.Duration, looksLike string) error {
	within := allows(f.bounds)
	if v := o.Broke; v != nil {
		fmt.Fprint(w, timeline.Of(o.Report, v))
		fmt.Fprintf(w, "\nthe shortest schedule that violates %s: %s\n   finding: ipamsim replay %s\n", v.Invariant, reports.Clean(v.Message), reports.Clean(o.Finding))
	}
	if looksLike != "" {
		fmt.Fprintf(w, "   likely cause: %s\n", reports.Clean(looksLike))
	}
	switch {
	case o.Broken != nil:
		fmt.Fprintf(w, "a schedule of at most %s has an unexpected violation, found after %s in %v\n", within, layout.Plural(o.Runs, "run"), took.Round(time.Second))
		return &exit.Error{Code: exit.Violation, Err: nil}
	case errors.Is(o.Why, context.Canceled):
		o.Why = fmt.Errorf("%w: interrupted", por.ErrPartial)
		fallthrough
	case o.Why != nil:
		return &exit.Error{Code: exit.Cannot, Err: fmt.Errorf("%w (%s in %v; %s)", o.Why, layout.Plural(o.Runs, "run"), took.Round(time.Second), reached(o.Reached))}
	}
	none := "no violation"
	if o.Meant {
		none = "only violations that the scenario expects"
	}
	fmt.Fprintf(w, "every schedule of this world of at most %s was checked: %s\n%v schedules, %s, %s, %v\n"+
		"dependences of messages learned: %s; %s at random found no further one\n",
		within, none, o.Schedules, layout.Plural(o.Runs-o.Probes, "run"), saved(o.Result), took.Round(time.Second), layout.Plural(o.Learned, "fact"), layout.Plural(o.Probes, "more run"))
	fmt.Fprintf(w, "invariants that hold only at rest were checked once for each distinct final state\n")
	if l := o.Outside; l != nil && !slices.Contains(o.Shown, l.Breaks[0].Invariant) {
		fmt.Fprintf(w, "a schedule outside these bounds violates %s: %s\n", l.Breaks[0].Invariant, reports.Clean(l.Breaks[0].Message))
	}
	if len(o.Unmet) > 0 {
		return &exit.Error{Code: exit.Cannot, Err: fmt.Errorf("the scenario expects %s, which no schedule within these bounds violates: it needs larger bounds, or is fixed", strings.Join(o.Unmet, ", "))}
	}
	return nil
}

// allows renders bounds.
func allows(b por.Bounds) string {
	s := fmt.Sprintf("%s, %s and ", layout.Plural(b.Preemptions, "preemption"), layout.Plural(b.Faults, "fault"))
	if b.Reorders >= por.Any {
		return s + "any reordering"
	}
	return s + layout.Plural(b.Reorders, "reordering")
}

// reached renders the bounds that were covered nevertheless.
func reached(covered []por.Bounds) string {
	if len(covered) == 0 {
		return "not even the schedules without preemptions, faults and reorderings"
	}
	var all []string
	for _, b := range covered {
		all = append(all, allows(b))
	}
	return "checked: schedules of at most " + strings.Join(all, "; of ")
}

// saved is how many schedules there are for each run of the search. Those at random are none: they
// test what it goes by.
func saved(r *por.Result) string {
	n, _ := r.Schedules.Float64()
	return fmt.Sprintf("%.4g schedules for each run", n/float64(max(r.Runs-r.Probes, 1)))
}
