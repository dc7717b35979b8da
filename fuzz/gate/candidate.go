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

// candidate is an input of a search: a generated scenario, an input of a target's corpus, or a
// scenario of the library.
type candidate struct {
	Target          string // of the corpus, or the scenario's file
	World, Schedule []byte
	Seed            uint64   `json:",omitempty"` // of a generated scenario
	Known           string   // the directory of the lists
	Settle          bool     `json:",omitempty"` // shrink failures with known signatures
	Settled         []string `json:",omitempty"` // except these signatures
}

func (p *candidate) input() input.Input { return input.Input{World: p.World, Schedule: p.Schedule} }

// written reports whether the candidate is a scenario of the library.
func (p *candidate) written() bool { return p.World == nil }

// open returns the candidate's scenario and the lists of known causes for it.
func (p *candidate) open(managers scenarios.Managers) (s *scenarios.Scenario, causes known.Causes, err error) {
	target := p.Target
	if p.written() {
		target = "" // all
		if s, err = managers.Load(p.Target); err == nil {
			s = s.WithSimpleControllers() // a finding is confirmed with Kubernetes' own controllers
		}
	} else {
		s, err = p.input().Scenario(managers, p.Target)
	}
	if err == nil {
		causes, err = known.Load(p.Known, input.Lists(managers, target)...)
	}
	return s, causes, err
}

// play runs the candidate on a store.
func (p *candidate) play(ctx context.Context, runner *scenarios.Runner, s *scenarios.Scenario, store string, ends input.Ends) (*reports.Report, error) {
	if p.written() {
		return input.Follow(ctx, runner, s, scenarios.Options{Store: store}, ends)
	}
	return p.input().Play(ctx, runner, s, store, ends)
}

// News is a failure whose cause is on no list.
type News struct {
	Class, Invariant, Severity, Sentence, Timeline string
	Fingerprint                                    string
	Real                                           string `json:",omitempty"` // the result with Kubernetes' own controllers, as a sentence
	YAML                                           []byte // the file, which replays on its own
	RealYAML                                       []byte `json:",omitempty"`
	Step                                           int
	Calls                                          []baseline.Call `json:",omitempty"`
	Found                                          baseline.Found
}

// attempt runs a candidate in memory. A failure with an unknown cause ends the run; it is repeated
// on etcd, which decides, and shrunk. Some failures with known signatures are shrunk, too,
// because their causes may be new.
func attempt(ctx context.Context, managers scenarios.Managers, runner *scenarios.Runner, p *candidate) *answer {
	a := &answer{}
	s, causes, err := p.open(managers)
	var bad *strict.Error
	if errors.As(err, &bad) {
		return a // an outdated input of the corpus
	} else if err != nil {
		return a.fails(err)
	}
	BeforeRun(p.Target, 0)
	isNew := func(rep *reports.Report, v *model.Violation) bool { return causes.Find(cause.Of(rep, v)) == "" }
	play := func(store string) (*reports.Report, error) { return p.play(ctx, runner, s, store, isNew) }
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
	for _, v := range input.Failures(s, rep, isNew) {
		why := cause.Of(rep, v)
		n, err := news(ctx, runner, s, rep, v, play, a)
		if err != nil {
			return a.fails(fmt.Errorf("%s: %w", why.Signature(), err))
		}
		n.Class = why.Signature()
		a.News = append(a.News, *n)
	}
	if p.Settle && len(a.News) == 0 {
		if err := p.settle(ctx, runner, s, rep, input.Others(s, rep, isNew), causes, a); err != nil {
			return a.fails(err)
		}
	}
	return a
}

// settle shrinks failures with known signatures.
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

// fails sets the answer for an error of ipamsim.
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
	rep = judge // the repeated run is another one
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

// addStory adds the timeline of the finding's file. Its steps are those of a replay, not those of
// the run from which it was shrunk.
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

// settling limits the shrinking of a failure that may not be news.
var settling = shrink.Options{Runs: 400, Time: 30 * time.Second}
