package worker

import (
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
)

// A failure that etcd does not show is a defect of the fast store and no finding.
func TestFailureOfTheFastStore(t *testing.T) {
	runner, err := scenarios.NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runner.Close() })
	c := &served{runner: runner, managers: managers.All(), spec: flakyOf(t, "duplicate-address"), parsed: map[int]*scenarios.Scenario{}}
	c.spec.Store = scenarios.Memory
	for seed := uint64(1); seed < 30; seed++ {
		sc, err := c.spec.World(managers.All(), 0, seed, c.parsed)
		if err != nil {
			t.Fatal(err)
		}
		o := c.spec.Options(0, seed)
		rep, err := runner.Run(t.Context(), sc, o)
		if err != nil {
			t.Fatal(err)
		}
		all := hits(rep)
		if len(all) == 0 {
			continue
		}
		q, a := ask{Seed: seed, Signature: all[0].Signature}, &answer{Hits: all}
		if c.confirmed(t.Context(), sc, o, rep, q, a); len(a.Kept) != 1 || a.Defect != "" {
			t.Errorf("what etcd shows as well: %d kept, %q", len(a.Kept), a.Defect)
		}
		rep.StoreDigest, a = "of another store", &answer{Hits: all}
		if c.confirmed(t.Context(), sc, o, rep, q, a); len(a.Kept) != 0 || !strings.Contains(a.Defect, "the stores differ") {
			t.Errorf("what etcd does not show: %d kept, %q", len(a.Kept), a.Defect)
		}
		return
	}
	t.Error("no seed failed")
}
