package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/shrink"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/baseline"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
	"ipamsim/sim"
)

// prey is a world that a search draws, or that lies in the corpus of a target.
type prey struct {
	Target          string
	World, Schedule []byte
	Known           string // where the lists are
}

func (p *prey) input() input.Input { return input.Input{World: p.World, Schedule: p.Schedule} }

// News is a failure of no class that is known.
type News struct {
	Class, Invariant, Severity, Sentence, Timeline string
	Fingerprint                                    string
	YAML                                           []byte // the file, which replays on its own
	Step                                           int
	Calls                                          []baseline.Call `json:",omitempty"`
}

// hunt runs a world in memory, as go test -fuzz does. What breaks there and is no class
// that is known is run on etcd, which is the judge, and made small.
func hunt(ctx context.Context, runner *scenarios.Runner, p *prey) *answer {
	a := &answer{}
	classes, err := known.Load(p.Known, input.Lists(p.Target)...)
	if err != nil {
		return a.fails(err)
	}
	s, err := p.input().Scenario(p.Target)
	var bad *strict.Error
	if errors.As(err, &bad) {
		return a // of the corpus of another time
	} else if err != nil {
		return a.fails(err)
	}
	beforeRun(p.Target, 0)
	play := func(store string) (*reports.Report, error) { return p.input().Play(ctx, runner, s, store) }
	rep, err := play(scenarios.Memory)
	var stuck *sim.Stuck
	switch {
	case errors.As(err, &stuck):
		a.Hung, a.Stacks = stuck.Error(), stuck.Stacks
		return a
	case errors.As(err, &bad): // by the API server
		return a
	case err != nil:
		return a.fails(err)
	}
	for _, v := range input.Failures(s, rep) {
		why := cause.Of(rep, v)
		class := why.Look()
		if classes.Look(why) != "" {
			continue
		}
		n, err := news(ctx, runner, s, rep, v, play, a)
		if err != nil {
			return a.fails(fmt.Errorf("%s: %w", class, err))
		}
		n.Class = class
		a.News = append(a.News, *n)
	}
	return a
}

// fails says that ipamsim could not do it.
func (a *answer) fails(err error) *answer {
	a.Defect = err.Error()
	return a
}

// news is what a violation in memory comes to on etcd, made small. One that does not
// get small is kept as it was recorded.
func news(ctx context.Context, runner *scenarios.Runner, s *scenarios.Scenario, rep *reports.Report, v *model.Violation, play func(string) (*reports.Report, error), a *answer) (*News, error) {
	judge, err := scenarios.Agree(rep, func() (*reports.Report, error) { return play(scenarios.Memory) }, func() (*reports.Report, error) { return play(scenarios.Etcd) })
	if judge != nil {
		a.Repeated.Add(judge.Repeated)
	}
	if err != nil {
		return nil, err
	}
	rep = judge // what was repeated is another run now
	i := slices.IndexFunc(rep.Violations, func(o model.Violation) bool { return o.Invariant == v.Invariant && o.Step == v.Step })
	if i < 0 {
		return nil, errors.New("it did not fail again the same way")
	}
	v = &rep.Violations[i]
	f, err := shrink.Shrink(ctx, runner, s, rep, v, shrink.Options{Time: shrinkMax, Samples: -1})
	if errors.Is(err, shrink.ErrNotAgain) {
		f = finding.New(s, rep, v, nil, cause.Of(rep, v))
		f.YAML, err = s.Finding(rep)
	}
	if err != nil {
		return nil, err
	}
	a.Repeated.Add(f.Repeated)
	n := &News{Invariant: f.Invariant, Severity: string(f.Severity), Sentence: f.Sentence, Fingerprint: f.Fingerprint, YAML: f.YAML}
	return n, n.tell(ctx, runner, f)
}

// tell adds what the run that the file holds shows: its steps are those that a reader
// sees who replays it, and not those of the run from which it was made small.
func (n *News) tell(ctx context.Context, runner *scenarios.Runner, f *finding.Finding) error {
	s, err := scenarios.Parse(finding.File(f.Fingerprint), f.YAML)
	if err != nil {
		return err
	}
	rep, err := runner.Run(ctx, s, scenarios.Options{Recorded: true})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(rep.Violations, func(v model.Violation) bool { return v.Invariant == f.Invariant })
	if i < 0 {
		return fmt.Errorf("the file of %s does not show it", f.Fingerprint)
	}
	v := &rep.Violations[i]
	n.Timeline, n.Step, n.Calls = reports.StoryOf(rep, v), v.Step, calls(&f.Cause)
	return nil
}

// shrinkMax: whoever waits for a gate wants to see it, and may make it smaller later.
const shrinkMax = 10 * time.Second
