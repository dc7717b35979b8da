package plan

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	"ipamsim/reports/answer"
	answercalico "ipamsim/reports/answer/calico"
	"ipamsim/scenarios/scenariotest"
)

// imported is a plan that begins with testdata/import.scenario, with options.
func imported(t *testing.T, spec string, options ...string) *Plan {
	t.Helper()
	text := "apiVersion: ipamsim.dev/v1alpha1\nkind: Plan\nmetadata: {name: moved}\nspec:\n  from: import.scenario\n  " +
		strings.ReplaceAll(spec, "\n", "\n  ") + "\n  options:\n  - {name: as it is}\n"
	for i, o := range options {
		text += fmt.Sprintf("  - {name: option %d, set: {%s}}\n", i+1, o)
	}
	p, err := Parse(All, "moved.yaml", []byte(text), func(string) ([]byte, error) { return os.ReadFile("testdata/import.scenario") })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is known to follow from an option of a cluster that runs is judged by what it is
// migrated to.
func TestMigrationRaces(t *testing.T) {
	for _, x := range []struct {
		set    string
		change answer.Change
	}{
		{"strictAffinity: true, maxBlocksPerHost: 1, addPool: 10.64.76.0/28", answer.BlocksLimited},
		{"strictAffinity: true", ""},
	} {
		p := imported(t, "horizon: 1d", x.set)
		all, err := answercalico.Answers.Races(&p.Cells[0].Cluster, &p.Cells[1].Cluster)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(all, func(r answer.Race) bool { return r.Change == x.change }); i < 0 && x.change != "" || x.change == "" && len(all) > 0 {
			t.Errorf("%s: %v, want one of %q", x.set, all, x.change)
		}
	}
}

// text of a migration, a line each.
func (s *Step) text() string {
	change, _ := s.Change.(calico.Change)
	switch s.Kind {
	case calico.CreatePool:
		return fmt.Sprintf("create %s %s /%d", s.Pool, s.CIDR, s.BlockBits)
	case calico.TypeAffinities:
		return fmt.Sprintf("type %v", change.Affinities)
	case calico.Configure:
		return fmt.Sprintf("configure %+v", change.Settings)
	case workload.RestartPods:
		return fmt.Sprintf("restart %v", s.Pools)
	}
	return string(s.Kind) + " " + s.Pool
}

// The way to an option of a cluster that runs: nothing is edited that cannot be.
func TestMigrationSteps(t *testing.T) {
	for _, x := range []struct {
		set  string
		want []string
	}{
		{"reconcileEvery: 5m", nil},
		{"strictAffinity: true", []string{"configure {Strict:true AutoAllocate:true MaxBlocks:20}"}},
		{"restartPods: true", []string{"restart [10.64.75.0/28]"}},
		{"addPool: 10.64.76.0/28", []string{"create staging-2 10.64.76.0/28 /29"}},
		{"addPool: {name: b, cidr: 10.64.76.0/28, blockSize: 30}, removePool: staging", []string{
			"type [10.64.75.0/29 10.64.75.8/29]", "create b 10.64.76.0/28 /30", "disable-pool staging", "restart [10.64.75.0/28]", "delete-pool staging"}},
		{"pool: {staging: 10.64.76.0/28}", []string{
			"type [10.64.75.0/29 10.64.75.8/29]", "create staging-2 10.64.76.0/28 /29", "disable-pool staging", "restart [10.64.75.0/28]", "delete-pool staging"}},
		{"resizePool: {staging: 26}", []string{"create staging-2 10.64.75.16/28 /29", "create staging-3 10.64.75.32/27 /29"}},
		{"blockSize: 30", []string{
			"type [10.64.75.0/29 10.64.75.8/29]", "create staging-temporary 100.64.0.0/28 /30", "disable-pool staging", "restart [10.64.75.0/28]", "delete-pool staging",
			"create staging 10.64.75.0/28 /30", "disable-pool staging-temporary", "restart [100.64.0.0/28]", "delete-pool staging-temporary"}},
		{"poolSize: 29, temporaryPool: 10.9.0.0/27", []string{
			"type [10.64.75.0/29 10.64.75.8/29]", "create staging-temporary 10.9.0.0/27 /29", "disable-pool staging", "restart [10.64.75.0/28]", "delete-pool staging",
			"create staging 10.64.75.0/29 /29", "disable-pool staging-temporary", "restart [10.9.0.0/27]", "delete-pool staging-temporary"}},
	} {
		p := imported(t, "horizon: 1d", x.set)
		var got []string
		for i := range p.made[1].steps {
			got = append(got, p.made[1].steps[i].text())
		}
		if diff := gocmp.Diff(x.want, got); diff != "" {
			t.Errorf("%s: want -, got +\n%s", x.set, diff)
		}
		if len(p.made[0].steps) > 0 {
			t.Errorf("as it is: %d steps", len(p.made[0].steps))
		}
	}
}

// For every option, blocks never overlap, at no event of any trial; initial claims stay until their
// pod is restarted, and at the end the requested pools exist.
func TestBlocksNeverOverlap(t *testing.T) {
	options := []string{"blockSize: 30", "blockSize: 31", "poolSize: 27", "poolSize: 29, blockSize: 30", "addPool: 10.64.76.0/28, removePool: staging", "pool: 10.64.76.0/28"}
	p := imported(t, "horizon: 2d\nsettings: {lifetime: 3h, reconcileEvery: 5m, drainEvery: 10h, drainFor: 20m, crashEvery: 10h, crashFor: 20m}", options...)
	for cell := range p.Cells {
		c, err := p.cluster(context.Background(), scenariotest.Runner(t), cell)
		if err != nil {
			t.Fatal(err)
		}
		for repeat := range 5 {
			trace := c.Trace(seedOf(1, repeat))
			player, err := capacity.NewPlayer(c, trace)
			if err != nil {
				t.Fatal(err)
			}
			for e := range trace.Events() {
				if err := player.Do(e); err != nil {
					t.Fatal(err)
				}
				if e.Kind != workload.TakeSample && e.Kind != workload.Pass {
					checkBlocks(t, player)
				}
			}
			way := player.Course().Migration
			if (way != nil) != (cell > 0) || way != nil && way.End == capacity.Never {
				t.Errorf("%s: %+v", p.Cells[cell].Option, way)
			}
			if cell > 0 && cell < 3 && way.Restarted() < 4 {
				t.Errorf("%s: %d pods were restarted", p.Cells[cell].Option, way.Restarted())
			}
		}
	}
}

func checkBlocks(t *testing.T, p *capacity.Player) {
	t.Helper()
	v := p.View()
	var all []netip.Prefix
	for i := range v.Record.Pools {
		all = append(all, v.Record.Pools[i].Range)
	}
	slices.SortFunc(all, netip.Prefix.Compare)
	for i := 1; i < len(all); i++ {
		if all[i-1].Overlaps(all[i]) {
			t.Fatalf("at %s blocks %s and %s overlap", v.Truth.At, all[i-1], all[i])
		}
	}
}

// A block with a leaked address stays, and a pool with blocks of another size cannot be created
// over it: without a collector the migration does not end, and the trial reports where it stopped
// and why. With one it ends when the leak is released.
func TestLeakStopsTheWay(t *testing.T) {
	p := imported(t, "horizon: 1d", "blockSize: 30", "blockSize: 30, reconcileEvery: 5m")
	for cell, done := range map[int]bool{1: false, 2: true} {
		d, err := p.Run(context.Background(), scenariotest.Runner(t), Point{Cell: cell, Engine: Reference, Seed: 1})
		if err != nil || d.Refused != "" {
			t.Fatal(err, d.Refused)
		}
		way := d.Course.Migration
		last := way.Steps[len(way.Steps)-1]
		if done && (way.End == capacity.Never || d.Course.Since <= way.End || len(d.Course.Judged()) == 0 || len(way.Steps) != 9 || way.Steps[5].Refused == 0) {
			t.Errorf("with a collector: since %s, %+v", d.Course.Since, way)
		}
		if !done && (way.End != capacity.Never || d.Course.Since != capacity.Never || d.Course.Judged() != nil || len(way.Steps) != 6 || last.Refused < 200 || !strings.Contains(last.Why, "blocks of /29")) {
			t.Errorf("without one: since %s, %+v", d.Course.Since, way)
		}
	}
}

// The real code takes the same way: every sample, and what was seen on the way, is
// equal, in both datastores.
func TestMigrationAgrees(t *testing.T) {
	r := scenariotest.Runner(t)
	for _, datastore := range []string{"kubernetes", "etcdv3"} {
		p := imported(t, "horizon: 4h\nsamples: 9\nengine: both\nsettings: {lifetime: 2h, reconcileEvery: 30m}",
			"strictAffinity: true", "blockSize: 30", "addPool: {cidr: 10.64.76.0/28, blockSize: 31}, removePool: staging", "poolSize: 27")
		if datastore == "etcdv3" {
			text, err := os.ReadFile("testdata/import.scenario")
			if err != nil {
				t.Fatal(err)
			}
			if p, err = Parse(All, "moved.yaml", p.text, func(string) ([]byte, error) {
				return []byte(strings.Replace(string(text), "datastore: kubernetes", "datastore: etcdv3", 1)), nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		for cell := range p.Cells {
			pt := Point{Cell: cell, Engine: Reference, Seed: seedOf(1, cell)}
			want, err := p.Run(context.Background(), r, pt)
			if err != nil || want.Refused != "" {
				t.Fatal(err, want.Refused)
			}
			pt.Engine = Real
			got, err := p.Run(context.Background(), r, pt)
			if err != nil || got.Refused != "" {
				t.Errorf("%s, %s: %v, %s", datastore, p.Cells[cell].Option, err, got.Refused)
				continue
			}
			from := 0
			if datastore == "etcdv3" {
				from = 1 // before anything is written, the record that the real code's sample is of is empty
			}
			if diff := gocmp.Diff(want.Course.Certain()[from:], got.Course.Samples[from:len(want.Course.Certain())]) + gocmp.Diff(want.Course.Migration, got.Course.Migration); diff != "" {
				t.Errorf("%s, %s: reference -, real +\n%s", datastore, p.Cells[cell].Option, diff)
			}
			if len(want.Course.Certain()) < 5 {
				t.Errorf("%s, %s: %d samples are certain", datastore, p.Cells[cell].Option, len(want.Course.Certain()))
			}
		}
	}
}

// The devices of running nodes are not pods: they are not restarted, and the real code begins with
// the same devices.
func TestDevicesAreNoPods(t *testing.T) {
	text, err := os.ReadFile("testdata/import.scenario")
	if err != nil {
		t.Fatal(err)
	}
	with := strings.NewReplacer("{projectcalico.org/IPv4Address: 10.0.0.11/24}", "{projectcalico.org/IPv4Address: 10.0.0.11/24, projectcalico.org/IPv4IPIPTunnelAddr: 10.64.75.2}",
		"{handle_id: k8s-pod-network.c2, secondary: {namespace: default, node: node-a, pod: gone-0, timestamp: \"2025-11-01\"}}", "{handle_id: ipip-tunnel-addr-node-a, secondary: {node: node-a, type: ipipTunnelAddress}}",
		"{name: k8s-pod-network.c2}", "{name: ipip-tunnel-addr-node-a}", "handleID: k8s-pod-network.c2", "handleID: ipip-tunnel-addr-node-a", "ipipMode: Never", "ipipMode: Always").Replace(string(text))
	p, err := Parse(All, "moved.yaml", imported(t, "horizon: 2h\nsettings: {reconcileEvery: 30m}\nengine: both").text, func(string) ([]byte, error) { return []byte(with), nil })
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.cluster(context.Background(), scenariotest.Runner(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	if !calico.Of(c).Tunnels || len(c.Pods) != 2 {
		t.Fatalf("tunnels %t, pods %+v", calico.Of(c).Tunnels, c.Pods)
	}
	pt := Point{Engine: Reference, Seed: 1}
	want, err := p.Run(context.Background(), scenariotest.Runner(t), pt)
	if err != nil || want.Refused != "" {
		t.Fatal(err, want.Refused)
	}
	if s := want.Course.Samples[0]; s.Pods != 2 || s.Leaked != 0 || s.InUse != 4 { // node-b gets one, too
		t.Errorf("at the beginning %+v", s)
	}
	pt.Engine = Real
	got, err := p.Run(context.Background(), scenariotest.Runner(t), pt)
	if err != nil || got.Refused != "" {
		t.Fatal(err, got.Refused)
	}
	if diff := gocmp.Diff(want.Course.Certain()[1:], got.Course.Samples[1:len(want.Course.Certain())]); diff != "" {
		t.Errorf("reference -, real +\n%s", diff)
	}
}
