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
		Short: "cover every schedule of a scenario within bounds",
		Long: `Cover every schedule of a small scenario within bounds: which process goes next, at
most --preemptions times although another could go on; at most --faults faults; and at
most --reorders times a message before one that its process sent earlier. Time passes
when no message can go. Schedules that differ only in the order of messages that do not
depend on each other are run once (sim/por/README.md says what depends on what, and what
is no choice). The simple controllers run, unless the scenario names others.

DIR keeps the runs: the same command goes on with a search that was interrupted.

Exit: 0 every schedule was covered and none breaks but as the scenario expects · 1 one
breaks: DIR has the shortest, to replay · 2 not covered: it was interrupted, its time
was up, or it could not go on; or covered, and what the scenario expects to break does
not within these bounds.`,
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
	fl.IntVar(&f.bounds.Preemptions, "preemptions", 2, "how often a process that could go on may have to wait for another: at most `N` times")
	fl.IntVar(&f.bounds.Faults, "faults", 0, "at most `N` faults, of those that the scenario allows")
	fl.IntVar(&f.bounds.Reorders, "reorders", 2, fmt.Sprintf("how often a message may have to wait for one that its process sent later: at most `N` times; %d: any order", por.Any))
	fl.DurationVar(&f.time, "time", 0, "stop after `D`, e.g. 10m (default: when everything is covered)")
	fl.IntVar(&f.workers, "workers", runtime.NumCPU(), "processes that run")
	fl.IntVar(&f.probes, "probes", 40, "run `N` schedules at random before and after, to learn and check what depends on what")
	fl.StringVar(&f.dir, "out", "", "keep the runs in `DIR`, and what breaks (default verified/NAME)")
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
		return errors.New("verify needs the hermetic Go runtime, which make build uses: with the stock one schedules do not decide everything")
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
		ctx, cancel = context.WithTimeoutCause(ctx, f.time, fmt.Errorf("the time of %v is up", f.time))
		defer cancel()
	}
	began := time.Now()
	out, err := verify.Run(ctx, verify.Config{
		Managers: f.managers, File: file, Text: text, Bounds: f.bounds, Workers: f.workers, Command: "verify-process",
		Dir: f.dir, Build: build, Probes: f.probes, Tell: verifyProgress(stderr, began),
	})
	if err != nil {
		return &exit.Error{Code: exit.Cannot, Err: err}
	}
	looksLike := ""
	if out.Broken != nil && listed {
		looksLike = known.Words(causes.Look(cause.Of(out.Report, out.Broke)))
	}
	return f.tell(cmd.OutOrStdout(), out, time.Since(began), looksLike)
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

// tell the answer. What breaks unexpectedly looks like something that is known, if there are
// lists of that here.
func (f *verifyFlags) tell(w io.Writer, o *verify.Outcome, took time.Duration, looksLike string) error {
	within := allows(f.bounds)
	if v := o.Broke; v != nil {
		fmt.Fprint(w, timeline.Of(o.Report, v))
		fmt.Fprintf(w, "\nthe shortest that breaks %s: %s\n   finding: ipamsim replay %s\n", v.Invariant, reports.Clean(v.Message), reports.Clean(o.Finding))
	}
	if looksLike != "" {
		fmt.Fprintf(w, "   its cause looks like %s\n", reports.Clean(looksLike))
	}
	switch {
	case o.Broken != nil:
		fmt.Fprintf(w, "a schedule of at most %s breaks what the scenario does not expect, after %s in %v\n", within, layout.Plural(o.Runs, "run"), took.Round(time.Second))
		return &exit.Error{Code: exit.Violation, Err: nil}
	case errors.Is(o.Why, context.Canceled):
		o.Why = fmt.Errorf("%w: interrupted", por.ErrPartial)
		fallthrough
	case o.Why != nil:
		return &exit.Error{Code: exit.Cannot, Err: fmt.Errorf("%w (%s in %v; %s)", o.Why, layout.Plural(o.Runs, "run"), took.Round(time.Second), reached(o.Reached))}
	}
	none := "none breaks"
	if o.Meant {
		none = "some break, only as the scenario expects"
	}
	fmt.Fprintf(w, "every schedule of this world of at most %s was covered: %s\n%v schedules, %s, %s, %v\n"+
		"%s learned of which messages depend on each other, which %s at random do not contradict\n",
		within, none, o.Schedules, layout.Plural(o.Runs-o.Probes, "run"), saved(o.Result), took.Round(time.Second), layout.Plural(o.Learned, "fact"), layout.Plural(o.Probes, "more run"))
	fmt.Fprintf(w, "what only holds at rest was judged at one of all ends that are the same in all that is judged\n")
	if l := o.Outside; l != nil && !slices.Contains(o.Shown, l.Breaks[0].Invariant) {
		fmt.Fprintf(w, "a schedule outside of these bounds breaks %s: %s\n", l.Breaks[0].Invariant, reports.Clean(l.Breaks[0].Message))
	}
	if len(o.Unmet) > 0 {
		return &exit.Error{Code: exit.Cannot, Err: fmt.Errorf("the scenario expects %s, which no schedule within these bounds breaks: it takes more than they allow, or is mended", strings.Join(o.Unmet, ", "))}
	}
	return nil
}

// allows says what bounds allow.
func allows(b por.Bounds) string {
	s := fmt.Sprintf("%s, %s and ", layout.Plural(b.Preemptions, "preemption"), layout.Plural(b.Faults, "fault"))
	if b.Reorders >= por.Any {
		return s + "any reordering"
	}
	return s + layout.Plural(b.Reorders, "reordering")
}

// reached says what was covered nevertheless.
func reached(covered []por.Bounds) string {
	if len(covered) == 0 {
		return "not even those without preemptions, faults and reorderings"
	}
	var all []string
	for _, b := range covered {
		all = append(all, allows(b))
	}
	return "covered are those of at most " + strings.Join(all, "; of ")
}

// saved is how many schedules there are for each run of the search. Those at random are none: they
// test what it goes by.
func saved(r *por.Result) string {
	n, _ := r.Schedules.Float64()
	return fmt.Sprintf("%.4g schedules for each run", n/float64(max(r.Runs-r.Probes, 1)))
}
