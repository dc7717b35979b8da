// Package confirm repeats a finding that was made with simple controllers with Kubernetes' own
// controllers.
package confirm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ipamsim/fuzz/finding"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// Options limit the work. The zero value is usable.
type Options struct {
	Runs int           // default 40
	Time time.Duration // wall-clock time; default Time
}

// Time is enough for findings that can be confirmed: nearly all are in the first runs.
const Time = 5 * time.Second

func (o Options) orDefault() Options {
	if o.Runs == 0 {
		o.Runs = 40
	}
	if o.Time == 0 {
		o.Time = Time
	}
	return o
}

// Try runs the scenario of a finding with Kubernetes' own controllers until it fails in the same way.
// These controllers send other messages, so the recorded schedule cannot be replayed. Try uses, in
// this order, the exceptions of the schedule, the orders of messages in the recorded run (as far as
// these messages exist), and strategies with seeds. The run that fails is repeated on etcd and
// stored.
//
// If the limits are reached, the result is NotConfirmed. If the finding cannot be tried, it is the
// zero value.
func Try(ctx context.Context, r *scenarios.Runner, f *finding.Finding, o Options) (finding.Real, error) {
	o = o.orDefault()
	began := time.Now()
	recorded, err := f.Scenario()
	if err != nil || recorded.Doc.Spec.Schedule == nil {
		return finding.Real{}, err
	}
	world := recorded.WithRealControllers()
	if world == nil {
		return finding.Real{}, nil
	}
	seed := recorded.Doc.Spec.Schedule.Seed
	walks, err := orders(ctx, r, recorded)
	if err != nil {
		return finding.Real{}, err
	}
	world.Doc.Spec.Limits.Steps = stepsMost(f.Steps)
	same := func(rep *reports.Report, v *model.Violation) bool {
		return finding.SignatureOf(rep, v) == f.Signature()
	}
	real := finding.Real{Verdict: finding.NotConfirmed}
	for real.Runs < o.Runs && time.Since(began) < o.Time && ctx.Err() == nil {
		walk, err := walkOf(walks, world, real.Runs)
		if err != nil {
			return real, err
		}
		real.Runs++
		run := scenarios.Options{Seed: &seed, Walk: walk, StopAt: same, Store: scenarios.Memory}
		rep, err := r.Run(ctx, world, run)
		if errors.Is(err, context.Canceled) {
			return finding.Real{}, nil
		} else if err != nil {
			return real, fmt.Errorf("confirm %s: %w", f.Fingerprint, err)
		}
		if f.In(rep) == nil {
			continue
		}
		rep, err = r.Confirm(ctx, world, run, rep)
		if err != nil {
			return real, fmt.Errorf("confirm %s: %w", f.Fingerprint, err)
		}
		real.Verdict, real.Strategy = finding.Confirmed, walk.String()
		real.YAML, err = world.Finding(rep)
		return real, err
	}
	return real, nil
}

// stepsMost returns the limit of steps of a run: Kubernetes' own controllers send some hundred messages
// until all of them watch, and a few for each other message.
func stepsMost(steps int) int { return 1000 + 4*steps }

// orders returns strategies that follow the order of the recorded run.
func orders(ctx context.Context, r *scenarios.Runner, recorded *scenarios.Scenario) ([]func() sim.Strategy, error) {
	rep, err := r.Run(ctx, recorded, scenarios.Options{Recorded: true, Store: scenarios.Memory})
	if err != nil {
		return nil, err
	}
	rules := recorded.Doc.Spec.Schedule.Exceptions()
	var own []strategy.Exception // about the outcome of messages, not their order
	for _, e := range rules {
		if e.Outcome != sim.Delay && e.Before == (strategy.Message{}) {
			own = append(own, e)
		}
	}
	out := []func() sim.Strategy{func() sim.Strategy { return strategy.NewSparse(rules) }}
	for _, matters := range []func(a, b sim.Op) bool{strategy.Related, strategy.Any} {
		edges := strategy.Edges(rep.Trace.Steps, matters)
		out = append(out, func() sim.Strategy { return strategy.NewOrdered(edges, own) })
	}
	return out, nil
}

// strategies are used in turn, after the orders of the recorded run: they find different failures.
var strategies = []string{"random", "pct", "timed", "stall", "pos"}

// walkOf returns the strategy of the n-th run, ready to use.
func walkOf(first []func() sim.Strategy, world *scenarios.Scenario, n int) (sim.Strategy, error) {
	if n < len(first) {
		walk := first[n]()
		walk.Begin(0)
		return walk, nil
	}
	n -= len(first)
	set, err := world.Settings()
	if err != nil {
		return nil, err
	}
	walk, err := strategy.Parse(strategies[n%len(strategies)], uint64(n/len(strategies)+1), set)
	if err == nil {
		walk.Begin(0)
	}
	return walk, err
}
