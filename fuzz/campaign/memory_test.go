package campaign

import (
	"strings"
	"testing"

	"ipamsim/scenarios"
	"ipamsim/sim/longtest"
)

// A campaign on the store in memory has the same findings as one on etcd, and records them on etcd.
func TestCampaignInMemory(t *testing.T) {
	longtest.Skip(t)
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
