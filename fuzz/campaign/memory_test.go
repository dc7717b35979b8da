package campaign

import (
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
)

// A campaign on the fast store finds what one on etcd finds, and its findings are of
// etcd.
func TestCampaignInMemory(t *testing.T) {
	var found [2][]string
	for i, store := range []string{"", scenarios.Memory} {
		spec := flakySpec("duplicate-address")
		spec.Store = store
		o, _, err := search(t, Config{Spec: spec, Runs: 10, Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if o.Blind() || o.Defective > 0 || len(o.Rows) == 0 || o.Open > 0 {
			t.Errorf("%+v", o)
		}
		for _, r := range o.Rows {
			found[i] = append(found[i], r.Fingerprint)
		}
	}
	if strings.Join(found[0], " ") != strings.Join(found[1], " ") {
		t.Errorf("on etcd %v, in memory %v", found[0], found[1])
	}
}

// A failure that etcd does not show is a defect of the fast store and no finding.
func TestFailureOfTheFastStore(t *testing.T) {
	runner := scenariotest.Runner(t)
	c := &served{runner: runner, managers: managers.All(), spec: flakySpec("duplicate-address"), parsed: map[int]*scenarios.Scenario{}}
	c.spec.Store = scenarios.Memory
	for seed := uint64(1); seed < 30; seed++ {
		sc, err := c.spec.world(managers.All(), 0, seed, c.parsed)
		if err != nil {
			t.Fatal(err)
		}
		o := c.spec.options(0, seed)
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
