// Package input converts the inputs of Go's fuzzer, two byte strings, to a scenario and a schedule, and
// back.
package input

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// Input is an input of a fuzz target.
type Input struct {
	// World is a scenario file, if it begins like one, otherwise the choices from which the target's
	// scenario is generated. Empty choices are the plainest scenario.
	World []byte
	// Schedule is the argument of strategy.NewDeviations. Empty means the default order.
	Schedule []byte
}

// beginnings are the beginnings of a scenario file.
var beginnings = [][]byte{[]byte("apiVersion:"), []byte("# ")}

// IsFile reports whether the world is a scenario file.
func (in Input) IsFile() bool {
	return slices.ContainsFunc(beginnings, func(b []byte) bool { return bytes.HasPrefix(in.World, b) })
}

// Scenario returns the scenario for the target with this name.
func (in Input) Scenario(managers scenarios.Managers, target string) (*scenarios.Scenario, error) {
	from, ok := targets(managers)[target]
	if !ok {
		return nil, CheckTarget(managers, target)
	}
	return in.Of(managers, from)
}

// Of returns the scenario for a target, with limits that keep a run short. If World is a file that does
// not load, as most mutated files, the error is a *strict.Error; any other error is a defect of the
// generator.
func (in Input) Of(managers scenarios.Managers, from Target) (*scenarios.Scenario, error) {
	if !in.IsFile() {
		s, err := from.Draw(managers, in.World)
		if err != nil {
			return nil, fmt.Errorf("%s: drawn from bytes: %v", from.Name, err) // not wrapped: it is not a file of the fuzzer
		}
		return Bounded(s), nil
	}
	s, err := managers.Parse(from.Name+".yaml", in.World)
	if err != nil {
		return nil, err
	}
	return Bounded(s), nil
}

// Walk returns the strategy that follows the schedule.
func (in Input) Walk() sim.Strategy { return strategy.NewDeviations(in.Schedule) }

// The limits of a run. Go's fuzzer gives up on an input after ten seconds, and learns
// little from one that takes more than one.
const (
	StepsMax   = 1200
	VirtualMax = 30 * time.Minute
)

// Bounded returns a scenario with its limits lowered to those of an input, and simple controllers.
func Bounded(s *scenarios.Scenario) *scenarios.Scenario {
	b := *s.WithSimpleControllers()
	l := &b.Doc.Spec.Limits
	if l.Steps == 0 || l.Steps > StepsMax {
		l.Steps = StepsMax
	}
	if l.Virtual.Duration == 0 || l.Virtual.Duration > VirtualMax {
		l.Virtual = metav1.Duration{Duration: VirtualMax}
	}
	return &b
}
