package answer_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
	"ipamsim/reports/answer"
	answercalico "ipamsim/reports/answer/calico"
	answerwhereabouts "ipamsim/reports/answer/whereabouts"
)

// calicoOf is a cluster of Calico as an option makes it.
func calicoOf(store reference.Datastore, every, grace time.Duration, strict bool, blocks int) *capacity.Cluster {
	return &capacity.Cluster{
		Workload: workload.Workload{Collect: workload.Collect{Every: every, Grace: grace}},
		Manager:  &calico.Config{Datastore: store, Settings: reference.Config{Strict: strict, MaxBlocks: blocks}},
	}
}

// whereaboutsOf is one of Whereabouts.
func whereaboutsOf(every time.Duration, slice int, overlap bool) *capacity.Cluster {
	return &capacity.Cluster{
		Workload: workload.Workload{Collect: workload.Collect{Every: every}},
		Networks: []model.Network{
			{Slice: slice, Overlap: overlap, Ranges: []model.Range{{Prefix: netip.MustParsePrefix("10.0.0.0/24")}}},
		},
	}
}

// tunnelled is a cluster whose nodes have addresses for their devices.
func tunnelled(c *capacity.Cluster) *capacity.Cluster {
	m := calico.Of(c)
	m.Tunnels, m.Pools = true, []reference.Pool{{Name: "p", VXLAN: true}}
	return c
}

// twice is a cluster with another network of the same range.
func twice(c *capacity.Cluster) *capacity.Cluster {
	c.Networks = append(c.Networks, c.Networks[0])
	return c
}

// TestRaces: each change brings the rows of the track record that follow from it, and
// nothing else does.
func TestRaces(t *testing.T) {
	const min = time.Minute
	kdd, etcd := reference.Kubernetes, reference.Etcd
	for _, tt := range []struct {
		name      string
		now, then *capacity.Cluster
		want      string // changes, each once
		row       string // a scenario among them
		never     string // one that is not
	}{
		{"as it is", calicoOf(kdd, 5*min, 0, false, 0), calicoOf(kdd, 5*min, 0, false, 0), "", "", "found"},
		{"more often", calicoOf(kdd, 15*min, 0, false, 0), calicoOf(kdd, 5*min, 0, false, 0), "passes-oftener", "calico-12257", "lagging-cache"},
		{"more often, on etcd", calicoOf(etcd, 15*min, 0, false, 0), calicoOf(etcd, 5*min, 0, false, 0), "passes-oftener", "found-calico-half-release", "node-deletion"},
		{"at last", calicoOf(kdd, 0, 0, false, 0), calicoOf(kdd, 5*min, 0, false, 0), "collector-on", "found-calico-deleted-node-lives", "half-reported"},
		{"at last, on etcd", calicoOf(etcd, 0, 0, true, 0), calicoOf(etcd, 5*min, 0, true, 0), "collector-on", "found-calico-node-deletion-repeated", "borrower"},
		{"more rarely", calicoOf(kdd, 5*min, 0, false, 0), calicoOf(kdd, 15*min, 0, false, 0), "", "", "found"},
		{"no longer", calicoOf(kdd, 5*min, 0, false, 0), calicoOf(kdd, 0, time.Second, false, 0), "", "", "found"},
		{"sooner", calicoOf(kdd, 5*min, 0, false, 0), calicoOf(kdd, 5*min, min, false, 0), "release-sooner", "calico-12257", "lagging"},
		{"the usual grace, written", calicoOf(kdd, 5*min, 0, false, 0), calicoOf(kdd, 5*min, 15*min, false, 0), "", "", "calico"},
		{"sooner than never", calicoOf(kdd, 5*min, reference.Never, false, 0), calicoOf(kdd, 5*min, 0, false, 0), "release-sooner", "calico-12257", ""},
		{"strict, which mends nothing and breaks nothing", calicoOf(kdd, 5*min, 0, false, 0), calicoOf(kdd, 5*min, 0, true, 0), "", "", "calico"},
		{"no longer strict", calicoOf(kdd, 5*min, 0, true, 0), calicoOf(kdd, 5*min, 0, false, 0), "strict-off", "found-calico-borrower-loses-the-block", ""},
		{"no longer strict, and nothing is given back", calicoOf(kdd, 0, 0, true, 0), calicoOf(kdd, 0, 0, false, 0), "", "", "calico"},
		{"one block, one pool, no tunnels", calicoOf(kdd, 5*min, 0, true, 0), calicoOf(kdd, 5*min, 0, true, 1), "", "", "limit"},
		{"one block, with tunnels", calicoOf(kdd, 5*min, 0, true, 0), tunnelled(calicoOf(kdd, 5*min, 0, true, 1)), "blocks-limited", "found-calico-limit-race", "limit-per-pools"},
		{"more blocks than usual", calicoOf(kdd, 5*min, 0, true, 0), tunnelled(calicoOf(kdd, 5*min, 0, true, 30)), "", "", "limit"},
		{"to etcd", calicoOf(kdd, 5*min, 0, false, 0), calicoOf(etcd, 5*min, 0, false, 0), "on-etcd", "found-calico-etcd-node-deletion", "lagging"},
		{"ip-reconciler", whereaboutsOf(24*time.Hour, 0, true), whereaboutsOf(5*min, 0, true), "passes-oftener", "r1-whereabouts-162", "calico"},
		{"slices", whereaboutsOf(5*min, 0, true), whereaboutsOf(5*min, 26, true), "slices-on", "found-node-slice-panic", "exclude"},
		{"overlap, of one network", whereaboutsOf(5*min, 0, false), whereaboutsOf(5*min, 0, true), "", "", "whereabouts"},
		{"overlap, of two", whereaboutsOf(5*min, 0, false), twice(whereaboutsOf(5*min, 0, true)), "overlap-on", "found-low-addresses-held", "207"},
		{"unknown", nil, whereaboutsOf(5*min, 0, true), "", "", "found"},
	} {
		known := &answerwhereabouts.Answers
		if calico.Of(tt.then) != nil {
			known = &answercalico.Answers
		}
		all, err := known.Races(tt.now, tt.then)
		if err != nil {
			t.Fatal(err)
		}
		var changes []string
		commands := ""
		for _, r := range all {
			if len(changes) == 0 || changes[len(changes)-1] != string(r.Change) {
				changes = append(changes, string(r.Change))
			}
			commands += r.Command + "\n"
			if r.What == "" || !strings.HasPrefix(r.Command, "ipamsim run scenarios/") || strings.Contains(r.What+r.Command, "`") || !strings.Contains(r.Upstream, ".") {
				t.Errorf("%s: %+v", tt.name, r)
			}
		}
		if got := strings.Join(changes, " "); got != tt.want {
			t.Errorf("%s: changes %q, want %q", tt.name, got, tt.want)
		}
		if !strings.Contains(commands, tt.row) || tt.never != "" && strings.Contains(commands, tt.never) {
			t.Errorf("%s: want %s and not %s:\n%s", tt.name, tt.row, tt.never, commands)
		}
	}
}

// A race that no trial shows is named where "nothing" would be said to be worse.
func TestRacesAreNamed(t *testing.T) {
	p := plan([]kind{{name: "every 15 min", block: 64, routes: 8, blackholed: 3}, {name: "every 5 min", block: 64, routes: 4}}, 100)
	p.Manager = answercalico.Answers
	p.Cells[0].Cluster, p.Cells[1].Cluster = calicoOf(reference.Kubernetes, 15*time.Minute, 0, false, 0), calicoOf(reference.Kubernetes, 5*time.Minute, 0, false, 0)
	got := only(p)
	for _, want := range []string{
		`Compared with "every 15 min", better: `,
		"It collects garbage more often (by a shorter leakGracePeriod, the only setting, so it also releases sooner). Known failures of calico 3.31.0 in this case, which no trial shows: An allocation names another node than its pod's. The garbage collector frees it while the pod runs (ipamsim run scenarios/calico-12257-stale-node-name.yaml)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "nothing that is measured here") {
		t.Errorf("what is not measured is told as nothing:\n%s", got)
	}
	p.Cells[1].Cluster = p.Cells[0].Cluster
	if got := only(p); !strings.Contains(got, "Worse: none of the measures.") || strings.Contains(got, "is known to do") {
		t.Errorf("a race that nothing brings:\n%s", got)
	}
}

// TestBoundReaches: a bound that a measure always meets, or never, is a mistake.
func TestBoundReaches(t *testing.T) {
	for _, tt := range []struct {
		measure string
		most    float64
		want    string
	}{
		{"exhaustion", 0.05, ""}, {"exhaustion", 1, ""}, {"routes", 300, ""},
		{"exhaustion", 5, "it is never more than 1: want 0 to 1, e.g. 0.05 for 5 %"},
		{"routes", -1, "it is never less than 0: want a bound of 0 or more"},
	} {
		got := ""
		if err := answer.Bounded(tt.measure, tt.most); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s ≤ %g: %q, want %q", tt.measure, tt.most, got, tt.want)
		}
	}
}
