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
	if o.Walk != nil { // which is past it
		o.Walk, o.Seed, o.Schedule = nil, &rep.Seed, rep.Trace.Schedule()
	}
	on := func(store string) func() (*reports.Report, error) {
		o := o
		o.Store = store
		return func() (*reports.Report, error) { return r.Run(ctx, s, o) }
	}
	return Agree(rep, on(Memory), on(Etcd))
}

// Agree repeats a run of the fast store on etcd, and returns the report of etcd, with an error that wraps
// ErrStoresDiffer if the runs differ. If an event outside the bubble woke one of the two (Report.Foreign),
// which the kernel of a busy machine may cause and no seed decides, it repeats both, a few times, and
// counts that in the returned report (Report.Repeated).
func Agree(rep *reports.Report, memory, etcd func() (*reports.Report, error)) (*reports.Report, error) {
	judge, err := etcd()
	var repeated reports.Repeated
	for n := 1; n < agreeMax && err == nil && rep.Foreign+judge.Foreign > 0 && Parted(rep, judge) != ""; n++ {
		var again *reports.Report
		if again, err = memory(); err == nil {
			rep = again
			repeated.Woken += 2
			judge, err = etcd()
		}
	}
	if err != nil {
		return judge, err
	}
	if parted := Parted(rep, judge); parted != "" {
		err = fmt.Errorf("%w: in memory, then on etcd (%d and %d wake-ups from outside): %s", ErrStoresDiffer, rep.Foreign, judge.Foreign, parted)
	}
	judge.Repeated.Add(repeated)
	return judge, err
}

// agreeMax bounds the repetitions: so far, the run after one that was woken from outside never was.
const agreeMax = 3

// Parted renders where two runs that should be identical differ, and a possible reason; "" if they do not.
func Parted(a, b *reports.Report) string {
	var parted string
	switch {
	case a.Digest != b.Digest || !slices.Equal(a.Trace.Schedule(), b.Trace.Schedule()):
		parted = fmt.Sprintf("the schedule logs differ %s; digest %s, then %s", firstDifference(a, b), a.Digest, b.Digest)
	case a.StoreDigest != b.StoreDigest:
		parted = fmt.Sprintf("the same schedule led to different stores: %s, then %s", a.StoreDigest, b.StoreDigest)
	default:
		return ""
	}
	if !hermetic.Enabled {
		return parted + "; this is expected on the stock Go runtime; make build uses the hermetic runtime"
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
