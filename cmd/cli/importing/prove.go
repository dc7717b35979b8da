package importing

import (
	"context"
	"time"

	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/diagnosis"
)

// actFor is how long remediations are simulated if --act is not given.
const actFor = time.Minute

// prove simulates the remediations of the findings.
func (f *importFlags) prove(w *session, s *scenarios.Scenario, v *scenarios.View, found *diagnosis.Findings) error {
	if len(found.All)+len(found.Borrowed) == 0 {
		return nil
	}
	w.begin("simulating remediations of %s for at most %s (--act)", layout.Plural(len(found.All), "finding"), f.act)
	bound := diagnosis.Bound{Wall: f.act, Progress: func(problem, of int) { w.count("problem %d of %d", problem, of) }}
	within, cancel := context.WithTimeout(w.ctx, f.act)
	defer cancel()
	if err := found.Prove(within, w.runner, s, v, bound); err != nil {
		return err
	}
	return w.ctx.Err()
}
