package main

import (
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
	"ipamsim/reports/answer"
	answercalico "ipamsim/reports/answer/calico"
	answerwhereabouts "ipamsim/reports/answer/whereabouts"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/longtest"
)

// undo takes a change back in the text of a scenario.
type undo func(text string) string

func replaces(pairs ...string) undo { return strings.NewReplacer(pairs...).Replace }

func adds(object string) undo { return func(text string) string { return text + "\n---\n" + object } }

var (
	reconciled = regexp.MustCompile(`schedule: "[^"]*"`)
	// later lets the reconciler run when the scenario is over, as its default is: daily.
	later undo = func(text string) string { return reconciled.ReplaceAllString(text, `schedule: "30 4 * * *"`) }
	kept  undo = func(text string) string {
		if strings.Contains(text, "leakGracePeriod: 1m") {
			return strings.Replace(text, "leakGracePeriod: 1m", "leakGracePeriod: 24h", 1)
		}
		return adds("apiVersion: projectcalico.org/v3\nkind: KubeControllersConfiguration\nmetadata: {name: default}\nspec: {controllers: {node: {leakGracePeriod: 24h}}}\n")(text)
	}
)

// undone is how each change is taken back. The grace period is made a day for what
// releases sooner.
var undone = map[answer.Change]undo{
	answer.CollectorOn:   replaces("daemons: [ipam-controller]", "daemons: []", "  reconcilers:\n  - {name: ipam-gc, schedule: \"@every 10s\"}\n", ""),
	answer.ReleaseSooner: kept,
	answer.StrictOff:     adds("apiVersion: crd.projectcalico.org/v1\nkind: IPAMConfig\nmetadata: {name: default}\nspec: {strictAffinity: true, autoAllocateBlocks: true}\n"),
	answer.BlocksLimited: replaces("maxBlocksPerHost: 1", "maxBlocksPerHost: 20"),
	answer.OnEtcd: func(text string) string {
		if s := strings.Replace(text, "datastore: etcdv3", "datastore: kubernetes", 1); s != text {
			return s
		}
		return strings.Replace(text, "  ipam: calico\n", "  ipam: calico\n  datastore: kubernetes\n", 1) // etcdv3 is the default
	},
	answer.PoolsChange: func(text string) string {
		return regexp.MustCompile(`(?m)^  - \{at: \S+ patch: \{resource: ippools.*\n`).ReplaceAllString(text, "")
	},
	answer.PassesOftener: later,
	answer.SlicesOn:      replaces(`, "node_slice_size": "/28"`, "", `"node_slice_size": "/28", `, ""),
	answer.OverlapOn:     replaces(`"type": "whereabouts",`, `"type": "whereabouts", "enable_overlapping_ranges": false,`),
}

// under is how a scenario is changed in both runs: where another cause of the same
// violation would hide what the change brings.
var under = map[string]undo{
	"found-slice-of-replaced-node": later, // the reconciler frees addresses of a node that is cut off, with or without slices
}

// every change that Races knows, from a cluster to another.
func everyChange() map[string][2]*capacity.Cluster {
	const min = time.Minute
	cal := func(change func(*capacity.Cluster)) *capacity.Cluster {
		c := &capacity.Cluster{Workload: workload.Workload{Collect: workload.Collect{Every: 5 * min}}, Manager: &calico.Config{
			Datastore: reference.Etcd, V4: true, V6: true, Tunnels: true,
			Pools: []reference.Pool{{Name: "a", VXLAN: true}, {Name: "b"}},
		}}
		change(c)
		return c
	}
	wb := func(change func(*capacity.Cluster), every time.Duration) *capacity.Cluster {
		v4, v6 := model.Range{Prefix: netip.MustParsePrefix("10.0.0.0/24"), Exclude: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/30")}}, model.Range{Prefix: netip.MustParsePrefix("fd00::/64")}
		c := &capacity.Cluster{Workload: workload.Workload{Collect: workload.Collect{Every: every}}, Networks: []model.Network{{Name: "n", Ranges: []model.Range{v4, v6}}, {Ranges: []model.Range{v4}}}}
		change(c)
		return c
	}
	plainly := func(*capacity.Cluster) {}
	guarded := func(w *capacity.Cluster) { w.Networks[0].Overlap, w.Networks[1].Overlap = true, true }
	return map[string][2]*capacity.Cluster{
		"collector": {cal(func(c *capacity.Cluster) { c.Collect.Every = 0 }), cal(plainly)},
		"grace":     {cal(plainly), cal(func(c *capacity.Cluster) { c.Collect.Grace = min })},
		"strict":    {cal(func(c *capacity.Cluster) { calico.Of(c).Settings.Strict = true }), cal(plainly)},
		"limit":     {cal(plainly), cal(func(c *capacity.Cluster) { calico.Of(c).Settings.MaxBlocks = 1 })},
		"etcd":      {cal(func(c *capacity.Cluster) { calico.Of(c).Datastore = reference.Kubernetes }), cal(plainly)},
		"pools":     {cal(plainly), cal(func(c *capacity.Cluster) { c.Migration = []workload.Step{{Kind: calico.CreatePool}} })},
		"passes":    {wb(guarded, 24*time.Hour), wb(guarded, min)},
		"slices":    {wb(plainly, min), wb(func(w *capacity.Cluster) { w.Networks[0].Slice = 28 }, min)},
		"overlap":   {wb(plainly, min), wb(guarded, min)},
	}
}

// TestRacesAreBrought: of what a row of the track record violates, something is there with
// the change and never without it. With -findings, under three more seeds.
func TestRacesAreBrought(t *testing.T) {
	longtest.Skip(t)
	r := scenariotest.Runner(t)
	rows := trackRecord(t)
	reported := map[answer.Change]int{}
	for _, clusters := range everyChange() {
		known := &answerwhereabouts.Answers
		if calico.Of(clusters[1]) != nil {
			known = &answercalico.Answers
		}
		races, err := known.Races(clusters[0], clusters[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, race := range races {
			reported[race.Change]++
			path := strings.TrimPrefix(race.Command, "ipamsim run ")
			name := strings.TrimSuffix(filepath.Base(path), ".yaml")
			data, err := os.ReadFile(filepath.Join("..", "..", path))
			if err != nil {
				t.Fatal(err)
			}
			with := string(data)
			if change := under[name]; change != nil {
				with = change(with)
			}
			without := undone[race.Change](with)
			if without == with {
				t.Errorf("%s: %s: there is nothing to take back in it", race.Change, name)
				continue
			}
			row := rows[slices.IndexFunc(rows, func(r row) bool { return r.Command() == race.Command })]
			brought := violated(t, r, path, with, nil)
			brought = slices.DeleteFunc(brought, func(kind string) bool { return !slices.Contains(row.Violated, kind) })
			for _, seed := range seeds() {
				still := violated(t, r, path, without, seed)
				brought = slices.DeleteFunc(brought, func(kind string) bool { return slices.Contains(still, kind) })
			}
			if len(brought) == 0 {
				t.Errorf("%s does not bring %s (%s): what it violates is there without it", race.Change, name, row.Violated)
			}
		}
	}
	for change := range undone {
		if reported[change] == 0 {
			t.Errorf("%s: no row is reported", change)
		}
	}
}

// seeds under which a scenario is run without a change; nil is its own.
func seeds() []*uint64 {
	out := []*uint64{nil}
	for seed := uint64(1001); *findings && seed <= 1003; seed++ {
		out = append(out, &seed)
	}
	return out
}

// violated are the invariants that a run of a scenario breaks.
func violated(t *testing.T, r *scenarios.Runner, path, text string, seed *uint64) (out []string) {
	t.Helper()
	s, err := managers.All().Parse(path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	rep, err := r.Run(t.Context(), s, scenarios.Options{Store: scenarios.Memory, Seed: seed})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for i := range rep.Violations {
		out = append(out, rep.Violations[i].Invariant)
	}
	return out
}
