package remedy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/checker"
)

// Simulator simulates remedies in runs that begin with the cluster of one scenario.
type Simulator struct {
	runner *scenarios.Runner
	s      *scenarios.Scenario
	before *scenarios.View
	facts  *Facts
	// defaults are objects that every such cluster has but dumps often omit.
	defaults []scenarios.Event
	idle     *After // the cluster later, without any action; nil: not simulated yet
}

// NewSimulator returns a simulator for the cluster of s with the state v. defaults are objects
// that every such cluster has but dumps often omit.
func NewSimulator(r *scenarios.Runner, s *scenarios.Scenario, v *scenarios.View, c *Facts, defaults []scenarios.Event) *Simulator {
	return &Simulator{runner: r, s: s, before: v, facts: c, defaults: defaults}
}

// calm is how long a cluster rests after the last step before it is judged.
const calm = time.Minute

// stepsMax is how many messages a run may have. The start of a pod takes some dozens.
const stepsMax = 5_000_000

// After is the state of a cluster at the end of a run.
type After struct {
	Took       time.Duration // the virtual time of the last step
	Sight      *checker.Snapshot
	Violations []model.Violation // those of the whole run, then those that hold at the end
	Last       int               // the number of violations that hold at the end
	Failed     []Failure
	shut       []shut
}

// Failure is a step that did not succeed.
type Failure struct {
	Action model.ActionRef
	Err    string // of upstream or the API server
}

// Simulate performs the steps of a remedy one after the other and judges the outcome. It
// returns an error if ctx ended or the run failed.
func (t *Simulator) Simulate(ctx context.Context, p *Problem, r *Remedy) (*Outcome, error) {
	if err := t.wait(ctx); err != nil {
		return nil, err
	}
	st := &Script{facts: t.facts}
	for _, step := range r.Steps {
		step.Perform(st)
	}
	took := st.now
	if p.Needs != "" {
		st.probe(p.Needs)
	}
	if len(p.Starts) > 0 {
		st.up = append(st.up, p.Starts...)
		st.Wait(retryTime)
	}
	st.await(pace)
	a, err := t.simulate(ctx, st, r.Waits...)
	if err != nil {
		return nil, err
	}
	a.Took = took
	return Judge(t.before, t.idle, p, r, a), nil
}

// wait simulates the cluster without any action for as long as most remedies take.
func (t *Simulator) wait(ctx context.Context) error {
	if t.idle != nil {
		return nil
	}
	a, err := t.simulate(ctx, &Script{facts: t.facts, now: 2 * restartTime})
	if err == nil {
		t.idle = a
	}
	return err
}

// simulate runs the scenario with the events of a script, and then lets the cluster settle.
func (t *Simulator) simulate(ctx context.Context, st *Script, with ...*Controller) (*After, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // a short run would end before it notices
	}
	begin, err := st.edited(t.s)
	if err != nil {
		return nil, err
	}
	s := *begin
	spec := &s.Doc.Spec
	spec.Timeline = slices.Concat(spec.Timeline, t.defaults, st.events)
	slices.SortStableFunc(spec.Timeline, func(a, b scenarios.Event) int { return int(a.At.Duration - b.At.Duration) })
	spec.Until, spec.Settle = metav1.Duration{Duration: st.now + pace}, metav1.Duration{Duration: calm}
	spec.Expect, spec.Limits.Steps = nil, stepsMax
	for _, c := range with {
		if !slices.Contains(spec.Daemons, c.Daemon) {
			spec.Daemons = append(slices.Clone(spec.Daemons), c.Daemon)
		}
	}
	var sight *checker.Snapshot
	var failed error
	var closed []shut
	rep, err := t.runner.Run(ctx, &s, scenarios.Options{
		Store: scenarios.Memory, Siteless: true, Samples: t.samples(st.gates, &closed),
		End: func(c *cluster.Cluster) { sight, failed = c.Checker.Snapshot() },
	})
	switch {
	case err != nil:
		return nil, err
	case failed != nil:
		return nil, failed
	case rep.Verdict == reports.Unknown || sight == nil:
		return nil, fmt.Errorf("%w: %s", errCut, rep.Reason)
	}
	end := checker.AtRest(*sight)
	return &After{Sight: sight, Violations: slices.Concat(slices.DeleteFunc(rep.Violations, st.passing), end), Last: len(end), Failed: failures(rep.History, st.checks), shut: closed}, nil
}

// edited returns the scenario that a run of the script begins with.
func (s *Script) edited(of *scenarios.Scenario) (*scenarios.Scenario, error) {
	if len(s.edits) == 0 {
		return of, nil
	}
	objects := slices.Clone(of.Objects)
	for _, e := range s.edits {
		i := slices.IndexFunc(objects, func(o cluster.Object) bool { return o.Kind == e.kind && o.Namespace == e.namespace && o.Name == e.name })
		if i < 0 {
			return nil, fmt.Errorf("remedy: edit %s %s/%s: the scenario does not have it", e.kind, e.namespace, e.name)
		}
		body, err := e.body(objects[i].Body)
		if err != nil {
			return nil, fmt.Errorf("remedy: edit %s %s/%s: %w", e.kind, e.namespace, e.name, err)
		}
		objects[i].Body = body
	}
	return of.With(of.Doc, objects)
}

// errCut reports a run that a limit has cut short.
var errCut = errors.New("remedy: the run was cut short")

// interrupted reports whether an error means that time was up.
func interrupted(err error) bool {
	return errors.Is(err, sim.ErrInterrupted) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// failures returns the operator's commands that failed, except the checks.
func failures(h *model.History, checks []model.ActionRef) []Failure {
	var out []Failure
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == model.Operator && e.Err != "" && !slices.Contains(checks, e.Action) {
			out = append(out, Failure{e.Action, e.Err})
		}
	}
	return out
}
