package ipamsimtest

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/fuzz/coverage"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam"
	"ipamsim/sim/strategy"
)

// Limits of an execution. Go's fuzzer takes an input for hung after ten seconds.
const (
	fuzzStepsMax = 1200
	fuzzWallMax  = 8 * time.Second
)

// Fuzz is a native fuzz target whose inputs are schedules of the scenario of a file: what
// breaks that the scenario does not expect fails. Go's fuzzer is shown what the run saw
// of the system, and not only which lines ran, if the package ipamsim/fuzz/coverage/lamp
// and the manager's own are built with -gcflags=-d=libfuzzer; the Makefile that ipamsim
// init writes does so. With plain go test -fuzz all of Kubernetes is instrumented:
// minutes of building, and few executions.
//
// Without -fuzz, the plainest schedule and what the corpus holds are run.
func Fuzz(f *testing.F, m *ipam.Manager, file string) {
	f.Helper()
	if !hermetic.Enabled {
		f.Skip("SKIPPED: needs runs that repeat: go run ipamsim/cmd/hermetic go test")
	}
	b := begin(f, m)
	s := *b.load(file)
	if l := &s.Doc.Spec.Limits; l.Steps == 0 || l.Steps > fuzzStepsMax {
		l.Steps = fuzzStepsMax
	}
	if s.Doc.Spec.Limits.Virtual.Duration == 0 {
		s.Doc.Spec.Limits.Virtual = metav1.Duration{Duration: time.Hour}
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, schedule []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), fuzzWallMax)
		defer cancel()
		rep, v, err := b.play(ctx, &s, schedule)
		switch {
		case errors.Is(err, sim.ErrInterrupted): // a busy machine
		case err != nil:
			t.Fatal(err)
		case v != nil:
			t.Error(reports.Line(rep) + "\n\n" + reports.StoryOf(rep, v))
		}
		if rep != nil && err == nil {
			coverage.Light(rep)
		}
	})
}

// play is one execution: it ends with the first violation that the scenario does not
// expect, which etcd must show as well.
func (b *bench) play(ctx context.Context, s *scenarios.Scenario, schedule []byte) (*reports.Report, *model.Violation, error) {
	on := func(store string) func() (*reports.Report, error) {
		return func() (*reports.Report, error) {
			return b.runner.Run(ctx, s, scenarios.Options{
				Walk: strategy.NewDeviations(schedule), Store: store,
				StopAt: func(_ *reports.Report, v *model.Violation) bool { return unexpected(s, v) },
			})
		}
	}
	rep, err := on(scenarios.Memory)()
	if err != nil || first(s, rep) == nil {
		return rep, nil, err
	}
	rep, err = scenarios.Agree(rep, on(scenarios.Memory), on(scenarios.Etcd))
	if err != nil {
		return rep, nil, err
	}
	return rep, first(s, rep), nil
}

// first is the first violation that the scenario does not expect, or nil.
func first(s *scenarios.Scenario, rep *reports.Report) *model.Violation {
	for i := range rep.Violations {
		if unexpected(s, &rep.Violations[i]) {
			return &rep.Violations[i]
		}
	}
	return nil
}
