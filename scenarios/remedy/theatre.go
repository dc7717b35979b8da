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

// Theatre acts remedies out in runs that begin with the cluster of one scenario.
type Theatre struct {
	runner *scenarios.Runner
	s      *scenarios.Scenario
	before *scenarios.View
	cast   *Cast
	// furniture is what every such cluster has, and dumps often lack.
	furniture []scenarios.Event
	idle      *After // what becomes of the cluster if nobody does anything; nil: not known yet
}

// NewTheatre is a stage for the cluster of s, which looks like v. furniture is what every
// such cluster has, and dumps often lack.
func NewTheatre(r *scenarios.Runner, s *scenarios.Scenario, v *scenarios.View, c *Cast, furniture []scenarios.Event) *Theatre {
	return &Theatre{runner: r, s: s, before: v, cast: c, furniture: furniture}
}

// calm is how long a cluster rests after the last step before it is judged.
const calm = time.Minute

// stepsMax is how many messages a run may have. A pod that starts takes some dozens.
const stepsMax = 5_000_000

// After is what a run has come to.
type After struct {
	Took       time.Duration // the virtual time of the last step
	Sight      *checker.Snapshot
	Violations []model.Violation // at any time, then those that hold at the end
	Last       int               // how many hold at the end
	Failed     []Failure
	shut       []shut
}

// Failure is a step that did not succeed.
type Failure struct {
	Deed string // as model.Event has it
	Err  string // upstream's, or the server's
}

// Act takes the steps of a remedy, one after the other, and judges what comes of it. The
// error is the context's, or one of ours: then nothing is known.
func (t *Theatre) Act(ctx context.Context, p *Problem, r *Remedy) (*Outcome, error) {
	if err := t.wait(ctx); err != nil {
		return nil, err
	}
	st := &Stage{cast: t.cast}
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
	a, err := t.play(ctx, st, r.Waits...)
	if err != nil {
		return nil, err
	}
	a.Took = took
	return Judge(t.before, t.idle, p, r, a), nil
}

// wait plays the cluster as it is for as long as most remedies take.
func (t *Theatre) wait(ctx context.Context) error {
	if t.idle != nil {
		return nil
	}
	a, err := t.play(ctx, &Stage{cast: t.cast, now: 2 * restartTime})
	if err == nil {
		t.idle = a
	}
	return err
}

// play runs the scenario with a stage's events, and lets the cluster rest then.
func (t *Theatre) play(ctx context.Context, st *Stage, with ...*Controller) (*After, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // a short run would end before it notices
	}
	s := *t.s
	spec := &s.Doc.Spec
	spec.Timeline = slices.Concat(spec.Timeline, t.furniture, st.events)
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
		Store: scenarios.Memory, Siteless: true, Looks: t.looks(st.gates, &closed),
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
	return &After{Sight: sight, Violations: slices.Concat(rep.Violations, end), Last: len(end), Failed: failures(rep.History, st.tells), shut: closed}, nil
}

// errCut is a run that a limit has cut short.
var errCut = errors.New("remedy: the run was cut short")

// interrupted reports whether an error says that time was up.
func interrupted(err error) bool {
	return errors.Is(err, sim.ErrInterrupted) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// failures are the operator's commands that failed, but for those that fail to say what
// they have found.
func failures(h *model.History, tell []string) []Failure {
	var out []Failure
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == model.Operator && e.Err != "" && !slices.Contains(tell, e.Deed) {
			out = append(out, Failure{e.Deed, e.Err})
		}
	}
	return out
}
