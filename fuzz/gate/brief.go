package gate

import (
	"context"
	"time"

	"ipamsim/reports/baseline"
)

// Brief does what Run does until a scenario is worse: the scenarios in their order, each run once
// and in memory. Determinism, the other store, and the search are left out. The costs of
// all scenarios of a manager together are compared only if no scenario is worse by itself.
//
// The outcome contains only the scenarios that were run.
func (g *Gate) Brief(ctx context.Context) (*baseline.Outcome, error) {
	began := time.Now()
	all, err := g.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = all.scratch.Remove() }()
	if g.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, g.Budget, errLate)
		defer cancel()
	}
	var results []baseline.Result
	// Each part has new processes: the parts grow.
	for from, n := 0, FirstPart; from < len(g.Scenarios); from, n = from+n, 2*n {
		part := *g
		part.Scenarios = g.Scenarios[from:min(len(g.Scenarios), from+n)]
		h := &session{Gate: &part, scratch: all.scratch, decided: map[int]bool{}, early: true, twice: never}
		some, err := h.firsts(ctx)
		if err == nil {
			err = h.wider(ctx, some, baseline.Doubts(g.Baseline, some), g.wideOf)
		}
		if err != nil {
			return nil, err
		}
		results = append(results, some...)
		all.repeated.Add(h.repeated)
		if worse(baseline.Compare(g.Baseline, some, false)) {
			break
		}
	}
	o := baseline.Compare(g.Baseline, results, false)
	o.Elapsed, o.Repeated = time.Since(began), all.repeated
	return o, nil
}

// FirstPart is the number of scenarios in the first part of a brief gate.
const FirstPart = 2

// worse reports whether a scenario by itself is worse, or could not be judged.
func worse(o *baseline.Outcome) bool {
	for i := range o.Rows {
		if r := &o.Rows[i]; !r.Pool && r.Red() {
			return true
		}
	}
	return false
}
