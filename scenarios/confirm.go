package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ipamsim/reports"
	"ipamsim/sim/hermetic"
)

// ErrStoresDiffer is wrapped by the error of Confirm if etcd shows another run than
// the fast store did: a defect of the fast store, and no finding.
var ErrStoresDiffer = errors.New("the stores differ")

// Confirm does on etcd the run that o led to on the fast store, and returns what
// etcd shows. That is the judge: nothing is a finding that only the fast store has
// seen.
func (r *Runner) Confirm(ctx context.Context, s *Scenario, o Options, rep *reports.Report) (*reports.Report, error) {
	o.Store = Etcd
	if o.Walk != nil { // which is past it
		o.Walk, o.Seed, o.Schedule = nil, &rep.Seed, rep.Trace.Schedule()
	}
	judge, err := r.Run(ctx, s, o)
	if err != nil {
		return judge, err
	}
	if parted := Parted(rep, judge); parted != "" {
		err = fmt.Errorf("%w: in memory, then on etcd: %s", ErrStoresDiffer, parted)
	}
	return judge, err
}

// Parted says where two runs that should be the same were not, and why that may be;
// empty if they were.
func Parted(a, b *reports.Report) string {
	var parted string
	switch {
	case a.Digest != b.Digest || !slices.Equal(a.Trace.Schedule(), b.Trace.Schedule()):
		parted = fmt.Sprintf("the schedule logs differ %s; digest %s, then %s", firstDifference(a, b), a.Digest, b.Digest)
	case a.StoreDigest != b.StoreDigest:
		parted = fmt.Sprintf("the same schedule left another store: %s, then %s", a.StoreDigest, b.StoreDigest)
	default:
		return ""
	}
	if !hermetic.Enabled {
		return parted + "; that is to be expected on the stock Go runtime; make build uses the hermetic one"
	}
	return parted + "; this is a defect of ipamsim, please report it"
}

func firstDifference(a, b *reports.Report) string {
	for i, x := range a.Trace.Steps {
		if i >= len(b.Trace.Steps) {
			break
		}
		if y := b.Trace.Steps[i]; x.String() != y.String() {
			return fmt.Sprintf("from step %d on: [%s], then [%s]", x.Step, x, y)
		}
	}
	return fmt.Sprintf("after %d and %d steps", len(a.Trace.Steps), len(b.Trace.Steps))
}
