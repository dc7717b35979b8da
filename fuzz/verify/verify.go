package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/por"
	"ipamsim/sim/scratch"
	"ipamsim/sim/strategy"
)

// Config of a search.
type Config struct {
	Managers   scenarios.Managers
	File       string // path of the scenario
	Text       []byte
	Bounds     por.Bounds
	Workers    int    // processes
	Command    string // the command of this program that serves a worker process
	Dir        string // for the runs and the finding
	Build      string // of this program: runs of another build cannot be used
	Probes     int
	OnProgress func(por.Progress)
}

// Outcome of a search.
type Outcome struct {
	*por.Result
	Why     error           // why not everything is covered; nil if it is, or an invariant broke
	Finding string          // the file of the shortest run that breaks an invariant
	Report  *reports.Report // of that run
	Broke   *model.Violation
	Meant   bool // the scenario expects the violation
	// Unmet are invariants that the scenario expects to break, but that break in no schedule within the
	// bounds, if all are covered. The violation may need more faults or switches, or latencies, or it may
	// be fixed: the search cannot distinguish these.
	Unmet []string
}

// Run covers the scenario's schedules, or resumes a search with the same scenario, limit of faults and
// program. The returned error is about the environment. What ended the search before everything was
// covered is in the outcome.
func Run(ctx context.Context, cfg Config) (*Outcome, error) {
	if err := scratch.Check(); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	w := &world{File: cfg.File, Text: string(cfg.Text), Faults: cfg.Bounds.Faults}
	s, err := w.parse(cfg.Managers)
	if err != nil {
		return nil, err
	}
	runs, err := open(cfg, w)
	if err != nil {
		return nil, err
	}
	defer runs.close()
	dir, err := scratch.New("verify")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Remove() }()
	p := newPool(ctx, dir.Path, cfg.Command, w, max(cfg.Workers, 1))
	expected := meant(s)
	search := &por.Search{
		World: p.run, Bounds: cfg.Bounds, Instant: Instant, Until: s.Doc.Spec.Until.Duration, Workers: cfg.Workers, Probes: cfg.Probes,
		Expected: func(b por.Break) bool { return slices.Contains(expected, b.Invariant) },
		Done:     runs.logs, Keep: runs.keep, Report: cfg.OnProgress,
	}
	result, err := search.Cover(ctx)
	p.close()
	out := &Outcome{Result: result, Why: err}
	if e := s.Doc.Spec.Expect; e != nil && result.Covered {
		must, _ := e.With(s.Manager().Upstream)
		out.Unmet = slices.DeleteFunc(slices.Clone(must), func(v string) bool { return slices.Contains(result.Shown, v) })
	}
	broken := result.Broken
	if broken == nil && result.Expected != nil {
		broken, out.Meant = result.Expected, true
	}
	if broken == nil {
		return out, nil
	}
	return out, out.write(context.WithoutCancel(ctx), cfg, s, broken, expected)
}

// meant returns the invariants that the scenario expects or allows to break.
func meant(s *scenarios.Scenario) []string {
	e := s.Doc.Spec.Expect
	if e == nil {
		return nil
	}
	must, may := e.With(s.Manager().Upstream)
	return slices.Concat(must, may)
}

// write writes the run that breaks an invariant as a file, and checks that the file replays.
func (o *Outcome) write(ctx context.Context, cfg Config, s *scenarios.Scenario, l *por.Log, expected []string) error {
	runner, err := scenarios.NewRunner()
	if err != nil {
		return err
	}
	defer runner.Close()
	matters := func(invariant string) bool { return slices.Contains(expected, invariant) == o.Meant }
	stop := func(_ *reports.Report, v *model.Violation) bool { return matters(v.Invariant) }
	rec := strategy.NewRecorder(por.NewGuide(l.Plan, s.Faults()))
	rec.Begin(0)
	rep, err := runner.Run(ctx, s, scenarios.Options{Instant: Instant, Walk: rec, StopAt: stop})
	if err != nil {
		return err
	}
	if o.Report, o.Broke = rep, first(rep, matters); o.Broke == nil {
		return fmt.Errorf("verify: what broke on the store in memory does not on etcd: %s", l.Breaks[0].Message)
	}
	text, err := s.Recorded(rep, rec.Exceptions()).YAML()
	if err != nil {
		return err
	}
	o.Finding = filepath.Join(cfg.Dir, o.Broke.Invariant+".yaml")
	if err := os.WriteFile(o.Finding, text, 0o666); err != nil {
		return err
	}
	again, err := cfg.Managers.Load(o.Finding)
	if err != nil {
		return fmt.Errorf("verify: the finding does not load: %w", err)
	}
	replayed, err := runner.Run(ctx, again, scenarios.Options{Recorded: true})
	if err != nil {
		return fmt.Errorf("verify: the finding does not replay: %w", err)
	}
	if replayed.Digest != rep.Digest {
		return errors.New("verify: the finding replays as another run")
	}
	return nil
}
