package ipamsimtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"ipamsim/fuzz/coverage"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/space"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/timeline"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam"
	"ipamsim/sim/strategy"
)

// fuzzWallMax is less than the ten seconds after which Go's fuzzer considers an input hung.
const fuzzWallMax = 8 * time.Second

// Fuzz is a native fuzz target whose inputs are schedules of the scenario of a file. A violation that the
// scenario does not expect fails. If the package ipamsim/fuzz/coverage/counter and the manager's packages
// are built with -gcflags=-d=libfuzzer, as in the Makefile of ipamsim init, Go's fuzzer is guided by what
// a run saw of the system, and not only by the executed lines. Plain go test -fuzz instruments all of
// Kubernetes: minutes of building, and few executions.
//
// Without -fuzz, Fuzz runs the plainest schedule and the corpus. ipamsim finding --scenario converts an
// input that Go wrote to a finding.
func Fuzz(f *testing.F, m *ipam.Manager, file string) {
	f.Helper()
	b := fuzzer(f, m)
	s := input.Bounded(b.load(file))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, schedule []byte) { b.execute(t, s, schedule) })
}

// FuzzSpace is a native fuzz target like Fuzz whose inputs are scenarios of the manager's space (see
// space.Space), with a schedule each. The name of the target has to be that of the space, FuzzFirstfree for
// firstfree, so that ipamsim finding can convert the inputs that Go wrote to findings.
func FuzzSpace(f *testing.F, m *ipam.Manager) {
	f.Helper()
	b := fuzzer(f, m)
	target := input.OfSpace(spaceOf(f, m))
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, world, schedule []byte) {
		s, err := input.Input{World: world, Schedule: schedule}.Of(b.managers, target)
		var bad *strict.Error
		switch {
		case errors.As(err, &bad): // a file that the fuzzer changed
		case err != nil:
			t.Fatal(err)
		default:
			b.execute(t, s, schedule)
		}
	})
}

func fuzzer(f *testing.F, m *ipam.Manager) *bench {
	f.Helper()
	if !hermetic.Enabled {
		f.Skip("SKIPPED: needs runs that repeat: go run ipamsim/cmd/hermetic go test")
	}
	return begin(f, m)
}

// spaceOf returns the space of a manager. It fails the test if there is none.
func spaceOf(t testing.TB, m *ipam.Manager) space.Space {
	t.Helper()
	s, ok := ipam.Part[space.Space](m)
	if !ok {
		t.Fatalf("%s has no space to generate scenarios from: give it one, Manager.With(space.Space{…})", m.Name)
	}
	return s
}

// execute runs one input of a target.
func (b *bench) execute(t *testing.T, s *scenarios.Scenario, schedule []byte) {
	ctx, cancel := context.WithTimeout(t.Context(), fuzzWallMax)
	defer cancel()
	rep, v, err := b.play(ctx, s, schedule)
	switch {
	case errors.Is(err, sim.ErrInterrupted): // a busy machine
	case err != nil:
		t.Fatal(err)
	case v != nil:
		t.Error(reports.Line(rep) + "\n\n" + timeline.Story(rep, v))
	}
	if rep != nil && err == nil {
		coverage.Count(rep)
	}
}

// play executes one run. It ends with the first violation that the scenario does not expect, which
// must also occur on etcd.
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

// first returns the first violation that the scenario does not expect, or nil.
func first(s *scenarios.Scenario, rep *reports.Report) *model.Violation {
	for i := range rep.Violations {
		if unexpected(s, &rep.Violations[i]) {
			return &rep.Violations[i]
		}
	}
	return nil
}
