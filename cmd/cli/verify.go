package cli

import (
	"context"
	"errors"
	"fmt"

	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
)

// check complains about a run that may not repeat: on the hermetic runtime
// something outside the bubble woke something inside, and the seed did not decide
// when.
func (s *session) check(rep *reports.Report) {
	if hermetic.Enabled && rep.Foreign != 0 {
		s.defect(rep, fmt.Sprintf("%s from outside the simulation: repeated runs may differ; this is a defect of ipamsim, please report it", layout.Plural(int(rep.Foreign), "wake-up")))
	}
}

// again does a run once more and complains if it is another one. A run in memory is
// done on etcd, and what etcd shows counts.
func (s *session) again(ctx context.Context, j *job, o scenarios.Options, rep *reports.Report) (*reports.Report, error) {
	if rep.Store == scenarios.Memory {
		judge, err := s.runner.Confirm(ctx, j.scenario, o, rep)
		if !errors.Is(err, scenarios.ErrStoresDiffer) {
			if err == nil && judge.Repeated.Runs() > 0 { // what was repeated is not rep any more
				rep = judge
			}
			return rep, s.unless(judge, err)
		}
		s.defect(rep, err.Error())
		return judge, nil
	}
	again, err := s.runner.Run(ctx, j.scenario, o)
	if err == nil {
		if parted := scenarios.Parted(rep, again); parted != "" {
			s.defect(rep, "not deterministic: "+parted)
		}
	}
	return rep, s.unless(again, err)
}

// unless passes on why a run did not end.
func (s *session) unless(rep *reports.Report, err error) error {
	if err != nil {
		return s.broken(rep, err)
	}
	return nil
}

func (s *session) defect(rep *reports.Report, what string) {
	s.defects++
	s.bar.Above(func() {
		fmt.Fprintf(s.warn, "ipamsim: %s\n", reports.Clean(fmt.Sprintf("%s seed %d: %s", rep.Scenario, rep.Seed, what)))
	})
}
