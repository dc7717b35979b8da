// Package planning has the commands about plans: plan with its backtest, and calibrate.
package planning

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/outfile"
	"ipamsim/cmd/cli/workers"
	"ipamsim/fuzz/campaign"
	"ipamsim/fuzz/campaign/queue"
	"ipamsim/reports"
	"ipamsim/reports/answer"
	"ipamsim/reports/answer/render"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/plan/values"
	"ipamsim/sim/hermetic"
)

// planFlags are the flags of plan as typed.
type planFlags struct {
	managers                scenarios.Managers
	engine, dir, html, json string
	resume, fresh           bool
	workers, repeats        int
	link                    queue.Link
	back                    backtestFlags
}

func Command(m scenarios.Managers) *cobra.Command {
	f := &planFlags{managers: m}
	cmd := &cobra.Command{
		Use:   "plan FILE | --backtest DATA[@TIME]…",
		Short: "estimate how long the addresses of a cluster last, and compare options",
		Long: `Estimate how long the addresses of a cluster last under the load and the options of a
plan (kind: Plan), and which option meets its goals at the lowest cost.

Each combination of options and axes is simulated in many trials, by the reference
allocators, by the real code in a simulated cluster, or by both, which must agree.

DIR gets index.html, answer.json, the table as table.csv and table.md, plots/,
points.jsonl with the result of every trial, and plan.yaml, the plan with all its inputs.
--resume continues a plan that was stopped or killed; the answer is the same.

With --backtest, the files are a cluster's data, as for ipamsim calibrate: a load is
calibrated on the first part of their time, many trials simulate the rest with it, and
the data are compared with the range of the trials.

Exit: 0 answered, even if no option meets the goals; a backtest predicted the data ·
1 a backtest did not · 2 could not run, was interrupted, the engines disagree, or there
are too few data.`,
		Example: `  ipamsim plan scenarios/plans/wikimedia-staging.yaml
  ipamsim plan growth.yaml --out growth --nats tls://nats.example.net:4222 --workers 0
  ipamsim plan --backtest october.json`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if f.back.on {
				return f.backtest(cmd, files)
			}
			if cmd.Flags().Changed("split") {
				return errors.New("--split requires --backtest")
			}
			q, err := f.check(cmd, files)
			if err != nil {
				return err
			}
			return q.answer(cmd)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.engine, "engine", "", "the engine that runs the trials: "+strings.Join(engines, ", ")+" (default: as the plan says)")
	fl.IntVar(&f.repeats, "repeats", 0, "run `N` trials of each combination (default: as the plan says)")
	fl.StringVar(&f.dir, "out", "", "write the answer, and the data needed to continue, into `DIR` (default answers/NAME)")
	fl.BoolVar(&f.resume, "resume", false, "continue the plan that was stopped or killed in DIR")
	fl.BoolVar(&f.fresh, "fresh", false, "start from the beginning and replace the contents of DIR")
	fl.IntVar(&f.workers, "workers", runtime.NumCPU(), "number of processes on this machine; 0: only workers on other machines")
	fl.StringVar(&f.html, "html", "", "also write the page to `F`")
	fl.StringVar(&f.json, "json", "", "also write answer.json to `F`, or - for stdout, with the table on stderr")
	fl.BoolVar(&f.back.on, "backtest", false, "calibrate on the first part of the data, and compare the prediction with the rest")
	f.back.split = 0.7
	fl.Var(&f.back.split, "split", "with --backtest: the fraction `PART` of the time to calibrate on")
	workers.LinkFlags(cmd, &f.link)
	return cmd
}

var engines = []string{plan.Real, plan.Reference, plan.Both}

// planJob is a plan to be answered, checked.
type planJob struct {
	*planFlags
	plan   *plan.Plan
	packed []byte // the plan with all it needs
	points []plan.Point
	cfg    campaign.Config
}

// check finds everything that is wrong before anything is started.
func (f *planFlags) check(cmd *cobra.Command, files []string) (*planJob, error) {
	changed := cmd.Flags().Changed
	switch {
	case len(files) != 1:
		return nil, fmt.Errorf("want one plan file, have %d", len(files))
	case changed("engine") && !slices.Contains(engines, f.engine):
		return nil, fmt.Errorf("--engine: unknown engine %q, want one of %s", f.engine, strings.Join(engines, ", "))
	case changed("repeats") && f.repeats < 1:
		return nil, fmt.Errorf("--repeats: want at least 1, have %d", f.repeats)
	case f.resume && f.fresh:
		return nil, errors.New("--resume and --fresh exclude each other")
	}
	if err := workers.Check(f.workers, &f.link); err != nil {
		return nil, err
	}
	q := &planJob{planFlags: f}
	var err error
	if q.plan, err = plan.Load(f.managers, files[0]); err != nil {
		return nil, err
	}
	if err := q.plan.Bounds(answer.Bounded); err != nil {
		return nil, err
	}
	if err := q.plan.Set(f.engine, f.repeats); err != nil {
		return nil, err
	}
	q.points = q.plan.Points()
	if q.packed, err = q.plan.Pack(); err != nil {
		return nil, err
	}
	if f.dir == "" {
		f.dir = filepath.Join("answers", strings.TrimLeft(outfile.Unsafe.ReplaceAllString(q.plan.Name(), "_"), "."))
	}
	if err := f.paths(); err != nil {
		return nil, err
	}
	q.cfg = campaign.Config{
		Spec: queue.Spec{Sources: []queue.Source{{File: files[0], Text: string(q.packed), Plan: true}}},
		Runs: uint64(len(q.points)), Workers: f.workers, Dir: f.dir, Fresh: f.fresh,
	}
	for _, p := range q.points {
		q.cfg.Weights = append(q.cfg.Weights, q.plan.Expect(p).Seconds())
	}
	if f.link.URL != "" {
		q.cfg.Link = &f.link
	}
	return q, nil
}

// paths that cannot be written.
func (f *planFlags) paths() error {
	if f.html != "" && f.json != "" && filepath.Clean(f.html) == filepath.Clean(f.json) {
		return errors.New("--html and --json name the same file")
	}
	for flag, path := range map[string]string{"html": f.html, "json": f.json} {
		if path == "-" {
			if flag == "html" {
				return errors.New("--html: want a file")
			}
			continue
		}
		out, err := outfile.Create(path)
		if err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		out.Discard()
	}
	if err := outfile.Writable(f.dir); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// answer the question.
func (q *planJob) answer(cmd *cobra.Command) error {
	stderr := cmd.ErrOrStderr()
	bar := workers.NewBar(stderr, q.cfg)
	q.cfg.OnProgress = bar.Show
	q.cfg.Say = func(s string) { bar.Above(func() { fmt.Fprintln(stderr, "ipamsim: "+reports.Clean(s)) }) }
	q.cfg.Say(q.opening())
	if !hermetic.Enabled {
		q.cfg.Say("built on the stock Go runtime: the next run of the real code may differ; make build uses the hermetic runtime")
	}
	var err error
	if q.cfg.Spec.Build, err = queue.Build(); err != nil {
		return err
	}
	if err := q.earlier(); err != nil {
		return err
	}
	b := q.open()
	defer b.Discard()
	q.cfg.Point = b.Add
	ctx, stop := exit.InterruptibleFor(workers.WindDownMax, stderr, b.Discard)
	defer stop()
	o, err := campaign.Run(ctx, q.cfg)
	bar.Finish()
	if err != nil {
		return err
	}
	b.answer.Stopped, b.answer.Repeated = b.done < len(q.points), o.Repeated
	a := render.Of(b.answer)
	switch {
	case b.done == 0:
		return fmt.Errorf("interrupted before any of %s was done", layout.Plural(len(q.points), "point"))
	case b.answer.Stopped:
		if err := a.Text(q.people(cmd)); err != nil {
			return err
		}
		return fmt.Errorf("interrupted: this is the answer of %d of %d points; the same command with --resume continues", b.done, len(q.points))
	}
	if err := b.Write(cmd.OutOrStdout(), a); err != nil {
		return err
	}
	if err := a.Text(q.people(cmd)); err != nil {
		return err
	}
	if t := o.Repeated.String(); t != "" {
		fmt.Fprintln(q.people(cmd), "\n"+t)
	}
	fmt.Fprintf(q.people(cmd), "\nWritten: %s with plots, and answer.json, table.csv and table.md in the same directory.\n", filepath.Join(q.dir, "index.html"))
	return Doubts(stderr, o, a)
}

// opening says within the first second what will be done.
func (q *planJob) opening() string {
	who := layout.Plural(q.cfg.Workers, "worker")
	if q.cfg.Link != nil {
		who += " here and those of " + workers.HostOf(q.cfg.Link.URL)
	}
	real := 0
	for _, p := range q.points {
		if p.Engine == plan.Real {
			real++
		}
	}
	points := layout.Plural(len(q.points), "point")
	if real > 0 {
		points += fmt.Sprintf(", %d of them for the real code", real)
	}
	return fmt.Sprintf("plan %s: %s over %s, %s, with %s; the answer goes to %s/", q.plan.Name(),
		layout.Plural(len(q.plan.Cells), "combination"), values.SpanText(q.plan.Doc.Spec.Horizon.Duration.Duration), points, who, q.cfg.Dir)
}

// earlier refuses to mix this plan with what its directory holds.
func (q *planJob) earlier() error {
	if q.fresh {
		return nil
	}
	all, err := campaign.EarlierIn(q.dir)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	what := ""
	for _, e := range all {
		switch {
		case e.Spec.Same(q.cfg.Spec) && (e.Over || q.resume):
			return nil
		case e.Spec.Same(q.cfg.Spec):
			return fmt.Errorf("--out: %s has this plan, which was stopped or killed: --resume continues it, --fresh starts from the beginning", q.dir)
		case len(e.Spec.Sources) != 1 || !e.Spec.Sources[0].Plan:
			what = "other files than a plan"
		case e.Spec.Sources[0].File != q.cfg.Spec.Sources[0].File:
			what = "another plan, " + e.Spec.Sources[0].File
		case e.Spec.Sources[0].Text != q.cfg.Spec.Sources[0].Text:
			what = "this plan before a change of its file or a flag"
		default:
			what = "this plan by another build of ipamsim, whose points may differ"
		}
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("--out: %s has %s: use another directory, or --fresh to replace it", q.dir, what)
}
