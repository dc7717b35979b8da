package scenarios_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ipamsim/scenarios"
	"ipamsim/sim/strategy"
)

// What the fast store shows, etcd shows as well; and if it did not, that would be
// said, and what counts is what etcd shows.
func TestConfirm(t *testing.T) {
	r, ctx := runner(t), context.Background()
	s := load(t, "r1-whereabouts-162.yaml")
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
	s := load(t, "r1-whereabouts-162.yaml")
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
