package fuzz_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/cause"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/longtest"
)

// The cause of a failure is the same in both of Calico's datastores, with the same functions.
func TestCauseInBothDatastores(t *testing.T) {
	longtest.Skip(t)
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	r := scenariotest.Runner(t)
	for _, tt := range []struct {
		name, invariant string
		seed            uint64 // 0: the scenario's own
	}{
		{"found-calico-half-claim", "leaked-affinity", 0},
		{"calico-7839-leftover-handle", "leftover-handle", 0},
		{"found-calico-check-frees-a-handle", "handle-count", 0},
		{"found-calico-borrower-loses-the-block", "spurious-exhaustion", 20},
		{"b2-192-168-100-10", "blackholed-address", 0},
		{"w5-as-it-was", "starved-node", 0},
	} {
		s, err := managers.All().Load("../scenarios/" + tt.name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		o := scenarios.Options{Store: scenarios.Memory}
		if tt.seed > 0 {
			o.Seed = &tt.seed
		}
		var keys []string
		for _, d := range []string{"kubernetes", "etcdv3"} {
			o.Datastore = d
			rep, err := r.Run(t.Context(), s, o)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, causeOf(rep, tt.invariant))
		}
		if keys[0] != keys[1] || keys[0] == "" {
			t.Errorf("%s: %q in the Kubernetes API, %q in etcd", tt.name, keys[0], keys[1])
		}
		t.Log(keys[0])
	}
}

// causeOf returns the cause of the first violation of an invariant, "" if there is none.
func causeOf(rep *reports.Report, invariant string) string {
	for i := range rep.Violations {
		if v := &rep.Violations[i]; v.Invariant == invariant {
			return cause.Of(rep, v).Key()
		}
	}
	return ""
}

// An evicted pod is recognized by its object, whether the simple controllers or Kubernetes' own delete it.
func TestCauseUnderRealControllers(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	r := scenariotest.Runner(t)
	const file = "../scenarios/whereabouts-485-partition.yaml"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, controllers := range []string{"simple", "real"} {
		s, err := managers.All().Parse(file, bytes.Replace(b, []byte("  seed: 1\n"), []byte("  seed: 1\n  controllers: "+controllers+"\n"), 1))
		if err != nil {
			t.Fatal(err)
		}
		rep, err := r.Run(t.Context(), s, scenarios.Options{Store: scenarios.Memory})
		if err != nil {
			t.Fatal(err)
		}
		if key := causeOf(rep, "unbacked-sandbox"); !strings.Contains(key, "wrote ip-reconciler ippools removed of a deleted pod ") {
			t.Errorf("%s: %q", controllers, key)
		}
	}
}
