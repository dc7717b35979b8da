package fuzz_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"ipamsim/fuzz/coverage"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/input"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
)

// Runs take place on the store in memory; etcd is the judge of what fails there,
// and is started when there is something to judge.
const (
	memory = scenarios.Memory
	etcd   = scenarios.Etcd
)

// runner is this process' one. Go's fuzzer gives a process one input at a time.
var runner = sync.OnceValues(func() (*scenarios.Runner, error) {
	started = true
	return scenarios.NewRunner()
})

var started bool

// fuzzRuns is a target whose inputs are runs.
func fuzzRuns(f *testing.F, target string) {
	if !hermetic.Enabled {
		f.Skip("SKIPPED: needs the hermetic build; run make fuzz")
	}
	k, err := loadKnown(target)
	if err != nil {
		f.Fatal(err)
	}
	r, err := runner()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, world, schedule []byte) {
		j := judge{t.Context(), r, target, input.Input{World: world, Schedule: schedule}, k}
		if err := j.judge(); err != nil {
			t.Error(err)
		}
	})
}

// judge is one run and what is said of it.
type judge struct {
	ctx    context.Context
	runner *scenarios.Runner
	target string
	input.Input
	known known
}

// judge runs the input. It returns an error that says what is new, and nothing of
// what is known; whatever is wrong with the harness is an error always.
func (j *judge) judge() error {
	s, rep, err := j.run()
	var bad *scenarios.Error
	if errors.As(err, &bad) { // by the loader, or by the API server
		return count(func(t *tally) { t.Refused++ })
	} else if err != nil {
		return fmt.Errorf("the harness: %w", err)
	}
	coverage.Light(rep)
	var known []string
	for _, v := range input.Failures(s, rep) {
		c := class(s, rep, v)
		if j.known[c] == "" {
			if !*learn {
				return j.confirm(s, rep, v, c)
			}
			if err := j.known.add(j.target, c, "learnt: "+strings.ReplaceAll(v.Message, "|", "/")); err != nil {
				return err
			}
		}
		known = append(known, c)
	}
	return count(func(t *tally) {
		if rep.Reason != "" {
			t.Cut++
		}
		for _, c := range known {
			t.Known[c]++
		}
	})
}

func (j *judge) run() (*scenarios.Scenario, *reports.Report, error) {
	s, err := j.Scenario(j.target)
	if err != nil {
		return nil, nil, err
	}
	rep, err := j.Play(j.ctx, j.runner, s, memory)
	return s, rep, err
}

// confirm repeats a failure on etcd, and says what happened.
func (j *judge) confirm(s *scenarios.Scenario, rep *reports.Report, v *model.Violation, class string) error {
	again, err := j.Play(j.ctx, j.runner, s, etcd)
	if err != nil {
		return fmt.Errorf("the harness, on etcd: %w", err)
	}
	if again.Digest != rep.Digest {
		return fmt.Errorf("the stores differ: digest %s in memory, %s on etcd (%d and %d wake-ups from outside); in memory: %s",
			rep.Digest, again.Digest, rep.Foreign, again.Foreign, v.Message)
	}
	story, _, _ := strings.Cut(reports.Timeline(rep, v), "   show it again: ") // nobody has that file
	return fmt.Errorf(news, v.Invariant, v.Severity, knownFile(j.target), class,
		strings.Join(reports.Wrap(finding.New(s, rep, v, nil).Sentence, 100), "\n"), story, j.target, j.FileName())
}

const news = `NEW: %s (%s), on etcd too; no class of fuzz/%s: %s

%s

%s
As a finding, once Go has written the input down:

    bin/ipamsim finding fuzz/testdata/fuzz/%s/%s --out findings`
