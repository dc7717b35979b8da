// Package confirm looks for a finding that was made with the simple controllers under
// Kubernetes' own.
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

// Options bound the work. The zero value is usable.
type Options struct {
	Runs int           // default 40
	Time time.Duration // wall-clock time; default Time
}

// Time is enough for what is seen at all: nearly all of it is in the first runs.
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

// Try runs the world of a finding with Kubernetes' own controllers until it fails in the
// same way. What they send are other messages, so that the recorded schedule does not say
// how: its exceptions are tried, then the orders of messages in the recorded run, as far as
// these messages are there, then strategies by seed. The run that fails is done on etcd,
// too, and kept.
//
// The result is not confirmed when the bounds are reached; it is the zero value if the
// finding cannot be tried.
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

// stepsMost of a run: Kubernetes' own controllers send some hundred messages until all of
// them watch, and a few for each of the others.
func stepsMost(steps int) int { return 1000 + 4*steps }

// orders are the walks that say what the recorded run did.
func orders(ctx context.Context, r *scenarios.Runner, recorded *scenarios.Scenario) ([]func() sim.Strategy, error) {
	rep, err := r.Run(ctx, recorded, scenarios.Options{Recorded: true, Store: scenarios.Memory})
	if err != nil {
		return nil, err
	}
	rules := recorded.Doc.Spec.Schedule.Exceptions()
	var own []strategy.Exception // about messages themselves
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

// strategies in turn, when no order of the recorded run does: they differ in what they find.
var strategies = []string{"random", "pct", "timed", "stall", "pos"}

// walkOf is the strategy of the n-th run, begun.
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
