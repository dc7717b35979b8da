package shrink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/shrink/internal/retry"
	"ipamsim/fuzz/shrink/internal/tree"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// finish records the shrunk failure, and checks that its file replays.
func (k *shrinker) finish() (f *finding.Finding, err error) {
	k.ctx = context.WithoutCancel(k.ctx) // the result so far is recorded in any case
	k.store = scenarios.Etcd
	repeated, err := retry.Woken(ErrNotAgain, func() (retry.Runs, error) {
		k.made = retry.Runs{}
		var err error
		f, err = k.record()
		return k.made, err
	})
	if err != nil && repeated.Runs() > 0 {
		err = fmt.Errorf("%w (%s)", err, repeated)
	}
	if f != nil {
		f.Repeated = repeated
	}
	return f, err
}

func (k *shrinker) record() (*finding.Finding, error) {
	rec := strategy.NewRecorder(strategy.NewSparse(k.rules))
	if _, err := k.run(k.world, rec); err != nil {
		return nil, fmt.Errorf("shrink: %w", err)
	}
	rules := rec.Exceptions()
	rep, err := k.run(k.world, strategy.NewSparse(rules))
	if err != nil {
		return nil, fmt.Errorf("shrink: %w", err)
	}
	v := k.lock.In(rep)
	if v == nil {
		return nil, fmt.Errorf("shrink %s: %w", k.world.Name(), ErrNotAgain)
	}
	// The finding is about the violation: other entries of its timeline may have no effect.
	k.world.Doc.Spec.MayFail = k.world.Doc.Spec.MayFail || len(rep.Idle) > 0
	f := finding.New(k.world, rep, v, rules, k.explain(rep, v, rules))
	k.also(f, v, rules)
	k.world.Doc.Metadata.Name = f.Invariant + "-" + f.Fingerprint
	if err := f.Write(k.world, rep, v, rules); err != nil {
		return nil, err
	}
	if err := k.replays(f, rep); err != nil {
		return nil, err
	}
	f.ShrinkRuns, f.ShrinkSeconds = k.runs, time.Since(k.began).Seconds()
	if k.options.Samples > 0 {
		k.sample(f, rules)
		err = f.Write(k.world, rep, v, rules)
	}
	return f, err
}

// replays parses the file, as a user would, and runs it.
func (k *shrinker) replays(f *finding.Finding, rep *reports.Report) error {
	s, err := k.managers.Parse(f.Fingerprint+".yaml", f.YAML)
	if err != nil {
		return fmt.Errorf("shrink: the finding does not load: %w", err)
	}
	again, err := k.runner.Run(k.ctx, s, scenarios.Options{Recorded: true})
	k.made.Add(again)
	if errors.Is(err, strategy.ErrDiverged) {
		return fmt.Errorf("shrink: %w: %w", err, ErrNotAgain)
	} else if err != nil {
		return fmt.Errorf("shrink: the finding does not replay: %w", err)
	}
	if again.Digest != rep.Digest || !again.AsExpected() {
		return fmt.Errorf("shrink: the finding replays with digest %s, recorded %s (%d and %d wake-ups from outside): %w",
			again.Digest, rep.Digest, again.Foreign, rep.Foreign, ErrNotAgain)
	}
	return nil
}

// also continues the run after the violation, with the same exceptions. The scenario is small, so that
// other invariants that break have the same cause. Invariants that need parts of a cluster
// which shrinking may have removed are left out.
func (k *shrinker) also(f *finding.Finding, v *model.Violation, rules []strategy.Exception) {
	world := *k.world
	world.Doc.Spec.Limits.Steps = k.steps + alsoSteps
	k.runs++
	rep, err := k.runner.Run(k.ctx, &world, scenarios.Options{Seed: &k.seed, Walk: strategy.NewSparse(rules)})
	if err != nil {
		return // the finding is complete without it
	}
	f.Also = finding.Others(rep, v, func(o *model.Violation) bool {
		return o.Step == v.Step || tree.Whole(v.Invariant, o.Invariant)
	})
}

// alsoSteps is enough for a small scenario to come to rest.
const alsoSteps = 1000

// A few samples of a long run are as much work as many of a short one.
const samplesMin, samplesSteps = 5, 1000

// sample runs random continuations after the last decision of the schedule, without further faults. They
// show whether the failure is likely from there on, or needs a particular order.
func (k *shrinker) sample(f *finding.Finding, rules []strategy.Exception) {
	k.store = scenarios.Memory
	for seed := range uint64(min(k.options.Samples, max(samplesMin, samplesSteps/f.Steps))) {
		if time.Since(k.began) > k.options.Time {
			return // the user waits
		}
		walk := strategy.NewSparse(rules)
		walk.Rest = strategy.NewRandom(seed, strategy.Settings{Faults: strategy.FaultRates{sim.Crash: 0}})
		rep, err := k.run(k.world, walk)
		if err != nil {
			return
		}
		f.Sampled++
		if k.lock.In(rep) != nil {
			f.Failing++
		}
	}
}
