package fuzz_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/coverage"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/settle"
	"ipamsim/fuzz/shrink"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/reports/timeline"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
	"ipamsim/sim"
	"ipamsim/sim/hermetic"
)

var stock = flag.Bool("stock", !hermetic.Enabled, "behave as on Go's own runtime")

// fuzzRuns is a target whose inputs are runs. They use the store in memory; a failure is repeated
// on etcd, which decides.
func fuzzRuns(f *testing.F, target string) {
	if *stock && targeted() != "" { // a skip would be PASS, after no execution
		f.Fatalf("needs the hermetic build, in which runs repeat; run make fuzz TARGET=%s", target)
	} else if *stock {
		f.Skip("SKIPPED: needs the hermetic build; run make fuzz")
	}
	k, err := known.Load(knownDir, input.Lists(managers.All(), target)...)
	if err != nil {
		f.Fatal(err)
	}
	r, err := runner()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, world, schedule []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), wallMax)
		defer cancel()
		j := judge{ctx, r, target, input.Input{World: world, Schedule: schedule}, k}
		if err := j.judge(); err != nil {
			t.Error(err)
		}
	})
}

// wallMax is less than the ten seconds after which Go's fuzzer considers an input hung and stops.
const wallMax = 8 * time.Second

// judge is one run and its checks.
type judge struct {
	ctx    context.Context
	runner *scenarios.Runner
	target string
	input.Input
	known known.Causes
}

// judge runs the input. It returns an error for a new failure, but not for known ones, and an error
// for any defect of the harness.
func (j *judge) judge() error {
	s, rep, err := j.run()
	var bad *strict.Error
	if errors.As(err, &bad) { // by the loader, or by the API server
		return count(func(t *tally) { t.Refused++ })
	} else if errors.Is(err, sim.ErrInterrupted) { // a busy machine
		return count(func(t *tally) { t.Cut++ })
	} else if err != nil {
		return fmt.Errorf("the harness: %w", err)
	}
	coverage.Count(rep)
	var classes []string
	for _, v := range input.Failures(s, rep, j.isNew) {
		if why := cause.Of(rep, v); *learn {
			err = errors.Join(err, add(&j.known, j.target, why, known.SeenAs(v.Message)))
		} else {
			err = errors.Join(err, j.confirm(s, rep, v, why.Signature()))
		}
	}
	others := input.Others(s, rep, j.isNew)
	for _, v := range others {
		if signature := cause.Of(rep, v).Signature(); !slices.Contains(classes, signature) {
			classes = append(classes, signature)
		}
	}
	if err == nil {
		err = j.settle(s, rep, others)
	}
	return errors.Join(err, count(func(t *tally) {
		if rep.Reason != "" {
			t.Cut++
		}
		for _, c := range classes {
			t.Known[c]++
		}
	}))
}

func (j *judge) run() (*scenarios.Scenario, *reports.Report, error) {
	s, err := j.Scenario(managers.All(), j.target)
	if err != nil {
		return nil, nil, err
	}
	rep, err := j.Play(j.ctx, j.runner, s, scenarios.Memory, j.isNew)
	return s, rep, err
}

func (j *judge) isNew(rep *reports.Report, v *model.Violation) bool {
	return j.known.Find(cause.Of(rep, v)) == ""
}

// signatures counts the known signatures whose failures this process has shrunk.
var signatures settle.Signatures

// settle shrinks failures with known signatures, as every search does.
func (j *judge) settle(s *scenarios.Scenario, rep *reports.Report, others []*model.Violation) error {
	if len(others) == 0 || !signatures.Due(done.Inputs-done.Refused) {
		return nil
	}
	trial, err := settle.Try(j.ctx, j.runner, s, rep, others, j.known, signatures.Settled(), shrink.Options{Runs: 400, Time: wallMax / 2})
	signatures.Tried(trial.Signatures, trial.Runs)
	for _, f := range trial.News {
		if *learn {
			err = errors.Join(err, add(&j.known, j.target, &f.Cause, known.SeenAs(f.Sentence)))
			continue
		}
		err = errors.Join(err, fmt.Errorf("NEW: %s (%s), on etcd too; no cause of fuzz/%s: %s\n\n%s\n\nIt is small:\n\n%s", f.Invariant, f.Severity, listFile(input.Lists(managers.All(), j.target)[0]), f.Cause.Key(), f.Sentence, f.YAML))
	}
	return err
}

// confirm repeats a failure on etcd, and returns an error that describes it.
func (j *judge) confirm(s *scenarios.Scenario, rep *reports.Report, v *model.Violation, class string) error {
	on := func(store string) func() (*reports.Report, error) {
		return func() (*reports.Report, error) { return j.Play(j.ctx, j.runner, s, store, j.isNew) }
	}
	again, err := scenarios.Agree(rep, on(scenarios.Memory), on(scenarios.Etcd))
	if again != nil {
		done.Repeated.Add(again.Repeated) // printed with the next count
	}
	if err != nil {
		return fmt.Errorf("the harness, on etcd: %w; in memory: %s", err, v.Message)
	}
	story, _, _ := strings.Cut(timeline.Of(rep, v), "   reproduce: ") // the file does not exist
	return fmt.Errorf(news, v.Invariant, v.Severity, listFile(input.Lists(managers.All(), j.target)[0]), class,
		strings.Join(layout.Wrap(finding.New(s, rep, v, nil, cause.Of(rep, v)).Sentence, 100), "\n"), story, j.target, j.FileName())
}

const news = `NEW: %s (%s), on etcd too; no class of fuzz/%s: %s

%s

%s
As a finding, once Go has written the input down:

    bin/ipamsim finding fuzz/testdata/fuzz/%s/%s --out findings`
