package scenarios_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/longtest"
)

// cheapOnBothStores touch, between them, all that the store serves: leases and
// leader election, caches that lag, watches whose history was compacted, Calico on
// both of its datastores, and two address managers in one cluster.
var cheapOnBothStores = []string{
	"r1-whereabouts-162.yaml", "whereabouts-712-patch-500.yaml", "b2-192-168-100-10.yaml", "calico-12838-stale-sequence-number.yaml",
	"found-calico-lagging-cache.yaml", "ok-mixed.yaml", "ok-pod-control-loop.yaml", "testdata/hazards/whereabouts.yaml", "testdata/hazards/calico.yaml",
}

// A run is the same on either store: every step, every call, the final store to the
// byte, and what the oracles said. With -full, for the whole library.
func TestStoresAgree(t *testing.T) {
	longtest.Skip(t)
	files := cheapOnBothStores
	if *full {
		hazards, err := filepath.Glob("testdata/hazards/*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		files = append(library(t), hazards...)
	}
	r := runner(t)
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".yaml"), func(t *testing.T) {
			s := load(t, f)
			datastores := s.Datastores()
			if len(datastores) == 0 {
				datastores = []string{""}
			}
			for _, ds := range datastores {
				sameOnBothStores(t, r, s, scenarios.Options{Datastore: ds})
			}
		})
	}
}

func sameOnBothStores(t *testing.T, r *scenarios.Runner, s *scenarios.Scenario, o scenarios.Options) {
	t.Helper()
	var reps [2]*reports.Report
	refusals := 0
	for i, store := range []string{scenarios.Etcd, scenarios.Memory} {
		o.Store = store
		var err error
		var refused *strict.Error
		if reps[i], err = r.Run(context.Background(), s, o); errors.As(err, &refused) && o.Datastore != s.Doc.Spec.Datastore {
			refusals++ // not a scenario of that datastore
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if reps[i].Store != store || reps[i].Foreign != 0 {
			t.Errorf("%s on %s: the report says %q, %d wake-ups from outside the bubble", s.Name(), store, reps[i].Store, reps[i].Foreign)
		}
	}
	if refusals == len(reps) {
		t.Logf("%s: not on %s", s.Name(), o.Datastore)
		return
	}
	e, m := reps[0], reps[1]
	if refusals > 0 || e.Digest != m.Digest || e.StoreDigest != m.StoreDigest || e.Calls != m.Calls || !slices.Equal(violated(e), violated(m)) {
		t.Errorf("%s %s: on etcd %s, store %s, %d calls, %v; in memory %s, store %s, %d calls, %v", s.Name(), o.Datastore,
			e.Digest, e.StoreDigest, e.Calls, violated(e), m.Digest, m.StoreDigest, m.Calls, violated(m))
	}
	t.Logf("%-45s %-10s %5d calls, %5.2f s on etcd, %5.2f s in memory", s.Name(), o.Datastore, e.Calls, e.Wall.Seconds(), m.Wall.Seconds())
}
