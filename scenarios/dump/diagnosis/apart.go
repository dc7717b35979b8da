package diagnosis

import (
	"context"
	"slices"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/sim/ipam"
)

// Apart inspects the scenarios of the managers that are judged separately, in the order of
// Report.Apart. It keeps only the invariants that are judged separately, because the main
// scenario may have the same objects.
func Apart(ctx context.Context, r *scenarios.Runner, report *dump.Report) (out []*scenarios.View, err error) {
	for _, s := range report.Apart {
		v, err := r.Inspect(ctx, s)
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
