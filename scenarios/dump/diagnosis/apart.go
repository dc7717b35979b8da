package diagnosis

import (
	"context"
	"slices"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/sim/ipam"
)

// Apart looks at the scenarios of the managers that are judged apart, in the order of
// Report.Apart. Of what is wrong there only what is judged apart is kept: the main scenario
// may have the same objects.
func Apart(ctx context.Context, r *scenarios.Runner, report *dump.Report) (out []*scenarios.View, err error) {
	for _, s := range report.Apart {
		v, err := r.Look(ctx, s)
		if err != nil {
			return nil, err
		}
		if i, ok := ipam.Part[*dump.Importer](s.Manager()); ok {
			v.Violations = slices.DeleteFunc(v.Violations, func(x model.Violation) bool { return !slices.Contains(i.Judged, x.Invariant) })
		}
		out = append(out, v)
	}
	return out, nil
}
