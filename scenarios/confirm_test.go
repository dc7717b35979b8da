package scenarios_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// What the fast store shows, etcd shows as well; and if it did not, that would be
// said, and what counts is what etcd shows.
func TestConfirm(t *testing.T) {
	r, ctx := runner(t), context.Background()
	s := load162(t)
	o := scenarios.Options{Store: scenarios.Memory}
	rep := run(t, r, s, o)
	judge, err := r.Confirm(ctx, s, o, rep)
	if err != nil || judge.Store != scenarios.Etcd || judge.Digest != rep.Digest || len(judge.Violations) == 0 {
		t.Errorf("%v, on %s digest %s, want %s", err, judge.Store, judge.Digest, rep.Digest)
	}
	wrong := *rep
	wrong.StoreDigest = "of another store"
	judge, err = r.Confirm(ctx, s, o, &wrong)
	if !errors.Is(err, scenarios.ErrStoresDiffer) || judge.Store != scenarios.Etcd || !strings.Contains(err.Error(), "of another store") {
		t.Errorf("on %s: %v", judge.Store, err)
	}
	wrong = *rep
	wrong.Digest = "of another run"
	if _, err = r.Confirm(ctx, s, o, &wrong); !errors.Is(err, scenarios.ErrStoresDiffer) || !strings.Contains(err.Error(), "of another run") {
		t.Error(err)
	}
}

// A walk of several runs is past the one that is to be confirmed: its decisions are
// repeated.
func TestConfirmOneOfSeveral(t *testing.T) {
	r := runner(t)
	s := load162(t)
	set, err := s.Settings()
	if err != nil {
		t.Fatal(err)
	}
	several := strategy.ParseSeveral("twice", 1, set)
	if several == nil {
		t.Fatal("twice is not one of several")
	}
	for range strategy.Runs(several) {
		o := scenarios.Options{Walk: several, Store: scenarios.Memory}
		rep := run(t, r, s, o)
		if _, err := r.Confirm(context.Background(), s, o, rep); err != nil {
			t.Error(err)
		}
	}
}

// A run that something outside woke need not be that of its seed: both are done
// again. Without such a wake-up nothing is, and what never agrees differs.
func TestAgreeRepeatsWhatWasWoken(t *testing.T) {
	play := func(digest string, foreign uint64) *reports.Report {
		return &reports.Report{Digest: digest, Foreign: foreign, Trace: &sim.Trace{}}
	}
	right, wrong, woken := play("1", 0), play("2", 0), play("2", 1)
	for _, c := range []struct {
		name         string
		rep          *reports.Report
		memory, etcd []*reports.Report // what they show, one after the other
		differ       bool
		repeated     int
	}{
		{"the same in the first run", right, nil, []*reports.Report{right}, false, 0},
		{"woken, and the same", play("1", 1), nil, []*reports.Report{right}, false, 0},
		{"etcd was woken", right, []*reports.Report{right}, []*reports.Report{woken, right}, false, 2},
		{"the fast store was woken", woken, []*reports.Report{right}, []*reports.Report{right, right}, false, 2},
		{"twice", right, []*reports.Report{right, right}, []*reports.Report{woken, woken, right}, false, 4},
		{"always", right, []*reports.Report{right, right}, []*reports.Report{woken, woken, woken}, true, 4},
		{"not woken", right, nil, []*reports.Report{wrong}, true, 0},
		{"woken, and then another all the same", right, []*reports.Report{right}, []*reports.Report{woken, wrong}, true, 2},
	} {
		next := func(all *[]*reports.Report) func() (*reports.Report, error) {
			return func() (*reports.Report, error) {
				if len(*all) == 0 {
					return nil, errors.New("one run more than it takes")
				}
				rep := *(*all)[0]
				*all = (*all)[1:]
				return &rep, nil
			}
		}
		memory, etcd := c.memory, c.etcd
		judge, err := scenarios.Agree(c.rep, next(&memory), next(&etcd))
		if errors.Is(err, scenarios.ErrStoresDiffer) != c.differ || err != nil && !c.differ || len(memory)+len(etcd) != 0 {
			t.Errorf("%s: %v; %d and %d runs not made", c.name, err, len(memory), len(etcd))
		}
		if judge.Repeated.Runs() != c.repeated || judge.Repeated.Died != 0 {
			t.Errorf("%s: %+v, want %d runs repeated", c.name, judge.Repeated, c.repeated)
		}
	}
}
