package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/confirm"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/settle"
	"ipamsim/fuzz/shrink"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/baseline"
	"ipamsim/reports/timeline"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
	"ipamsim/sim"
)

// candidate is a world that a search draws, or that lies in the corpus of a target, or a
// scenario of the library.
type candidate struct {
	Target          string // or the scenario's file
	World, Schedule []byte
	Seed            uint64   `json:",omitempty"` // of a drawn world
	Known           string   // where the lists are
	Settle          bool     `json:",omitempty"` // make failures small that look like what is known
	Settled         []string `json:",omitempty"` // but not of these looks
}

func (p *candidate) input() input.Input { return input.Input{World: p.World, Schedule: p.Schedule} }

// written reports whether it is a scenario.
func (p *candidate) written() bool { return p.World == nil }

// open the world, and the lists that count for it.
func (p *candidate) open(managers scenarios.Managers) (s *scenarios.Scenario, causes known.Causes, err error) {
	target := p.Target
	if p.written() {
		target = "" // all
		if s, err = managers.Load(p.Target); err == nil {
			s = s.WithSimpleControllers() // what it finds is looked for again under Kubernetes' own
		}
	} else {
		s, err = p.input().Scenario(managers, p.Target)
	}
	if err == nil {
		causes, err = known.Load(p.Known, input.Lists(managers, target)...)
	}
	return s, causes, err
}

// play it on a store.
func (p *candidate) play(ctx context.Context, runner *scenarios.Runner, s *scenarios.Scenario, store string, ends input.Ends) (*reports.Report, error) {
	if p.written() {
		return input.Follow(ctx, runner, s, scenarios.Options{Store: store}, ends)
	}
	return p.input().Play(ctx, runner, s, store, ends)
}

// News is a failure whose cause is none that is known.
type News struct {
	Class, Invariant, Severity, Sentence, Timeline string
	Fingerprint                                    string
	Real                                           string `json:",omitempty"` // what came of it under Kubernetes' own controllers, for people
	YAML                                           []byte // the file, which replays on its own
	RealYAML                                       []byte `json:",omitempty"`
	Step                                           int
	Calls                                          []baseline.Call `json:",omitempty"`
	Found                                          baseline.Found
}

// attempt runs a world in memory. What breaks there and looks like no cause that is known ends
// the run; it is run on etcd, which is the judge, and shrunk. Some failures that look known
// are shrunk, too: their causes may be new.
func attempt(ctx context.Context, managers scenarios.Managers, runner *scenarios.Runner, p *candidate) *answer {
	a := &answer{}
	s, causes, err := p.open(managers)
	var bad *strict.Error
	if errors.As(err, &bad) {
		return a // of the corpus of another time
	} else if err != nil {
		return a.fails(err)
	}
	BeforeRun(p.Target, 0)
	looksNew := func(rep *reports.Report, v *model.Violation) bool { return causes.Find(cause.Of(rep, v)) == "" }
	play := func(store string) (*reports.Report, error) { return p.play(ctx, runner, s, store, looksNew) }
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
	for _, v := range input.Failures(s, rep, looksNew) {
		why := cause.Of(rep, v)
		n, err := news(ctx, runner, s, rep, v, play, a)
		if err != nil {
			return a.fails(fmt.Errorf("%s: %w", why.Signature(), err))
		}
		n.Class = why.Signature()
		a.News = append(a.News, *n)
	}
	if p.Settle && len(a.News) == 0 {
		if err := p.settle(ctx, runner, s, rep, input.Others(s, rep, looksNew), causes, a); err != nil {
			return a.fails(err)
		}
	}
	return a
}

// settle looks behind what is known.
func (p *candidate) settle(ctx context.Context, runner *scenarios.Runner, s *scenarios.Scenario, rep *reports.Report, all []*model.Violation, causes known.Causes, a *answer) error {
	trial, err := settle.Try(ctx, runner, s, rep, all, causes, p.Settled, settling)
	a.Tried, a.Trials = trial.Signatures, trial.Runs
	for _, f := range trial.News {
		a.Repeated.Add(f.Repeated)
		n := newsOf(f)
		if err := n.addStory(ctx, runner, f); err != nil {
			return err
		}
		n.Class = f.Cause.Key()
		a.News = append(a.News, *n)
	}
	return err
}

// fails says that ipamsim could not do it.
func (a *answer) fails(err error) *answer {
	a.Defect = err.Error()
	return a
}

// news repeats a violation that was found in memory on etcd and shrinks it. If it cannot be
// shrunk, it is kept as recorded.
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
	if f.Real, err = confirm.Try(ctx, runner, f, confirm.Options{}); err != nil {
		return nil, err
	}
	n := newsOf(f)
	return n, n.addStory(ctx, runner, f)
}

func newsOf(f *finding.Finding) *News {
	return &News{Invariant: f.Invariant, Severity: string(f.Severity), Sentence: f.Sentence, Fingerprint: f.Fingerprint, YAML: f.YAML, Real: f.RealText(), RealYAML: f.Real.YAML}
}

// addStory adds what the run that the file holds shows: its steps are those of a
// replay, not those of the run from which it was shrunk.
func (n *News) addStory(ctx context.Context, runner *scenarios.Runner, f *finding.Finding) error {
	s, err := f.Scenario()
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
	n.Timeline, n.Step, n.Calls = timeline.Story(rep, v), v.Step, calls(&f.Cause)
	return nil
}

// shrinkMax is short because the user waits for the gate and may shrink further later.
const shrinkMax = 10 * time.Second

// settling bounds what is done about a failure that is not known to be news.
var settling = shrink.Options{Runs: 400, Time: 30 * time.Second}
