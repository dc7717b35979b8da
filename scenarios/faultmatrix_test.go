package scenarios_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// matrix lists what the schedule may do to a message, by its owner and the port that it passes. A number
// is the number of answers in the table of sim/kube/answer. "stale" is for reads that accept any version
// (resourceVersion 0); reads of etcd are linearizable and never stale. The manager's processes are CNI
// calls, passes, daemons and controllers, leaders included; ours are kubelets, controllers of
// Kubernetes, operators and hazards.
//
// A fault that is not of a message is a hazard: see hazard.Hazards and TestHazardsHappen.
const matrix = `
manager's  api   event  delay drop gone crash
manager's  api   read   delay fail-before(6) stale crash
manager's  api   watch  delay fail-before(5) crash
manager's  api   write  delay fail-before(7) lose-reply(4) crash
manager's  etcd  event  delay drop gone crash
manager's  etcd  read   delay fail-before(1) crash
manager's  etcd  watch  delay fail-before(1) crash
manager's  etcd  write  delay fail-before(2) lose-reply(2) crash
ours       api   event  delay
ours       api   read   delay fail-before(6)
ours       api   write  delay fail-before(7) lose-reply(4)
ours       none  local  delay
`

// menu notes what may be done to every message of a run in timed order.
type menu struct {
	*strategy.Timed
	managers map[string]bool // its processes, by the first part of their names
	offers   map[string]sim.FaultSet
	ways     map[string]map[sim.Outcome]sim.Ways
}

func (m *menu) Pick(step int, enabled []sim.Choice) int {
	if !sim.Sizing(enabled) {
		for _, c := range enabled {
			if c.Outcome != sim.Elapse {
				k := m.row(c.Op)
				m.offers[k] |= sim.Of(c.Outcome)
				if m.ways[k] == nil {
					m.ways[k] = map[sim.Outcome]sim.Ways{}
				}
				m.ways[k][c.Outcome] |= c.Op.Ways(c.Outcome)
			}
		}
	}
	return m.Timed.Pick(step, enabled)
}

// row is the line of the matrix that a message belongs to.
func (m *menu) row(op sim.Op) string {
	whose, port := "ours", "api"
	if m.managers[op.Actor.Kind()] {
		whose = "manager's"
	}
	verb, _, _ := strings.Cut(op.Key, " ")
	switch {
	case op.Kind == sim.Local:
		port = "none"
	case whose != "ours" && (verb == "HEAR" || verb != strings.ToUpper(verb)):
		port = "etcd"
	}
	return fmt.Sprintf("%-10s %-5s %-6s", whose, port, op.Kind)
}

func TestFaultMatrix(t *testing.T) {
	needClocks(t)
	r := runner(t)
	m := &menu{offers: map[string]sim.FaultSet{}, ways: map[string]map[sim.Outcome]sim.Ways{}, managers: map[string]bool{
		"cni-add": true, "cni-del": true, "ip-reconciler": true, "pod-control-loop": true, "node-slice-controller": true,
		"ipam-gc": true, "ipam-controller": true, "tunnel-addresses": true,
	}}
	for _, c := range []struct{ file, datastore string }{
		{"testdata/hazards/whereabouts.yaml", ""}, {"testdata/hazards/calico.yaml", "etcdv3"}, {"testdata/hazards/calico.yaml", "kubernetes"},
	} {
		s := load(t, c.file)
		s.Doc.Spec.Faults = scenarios.Faults{Max: 1000}
		// A dropped watch is opened again from a revision.
		m.Timed = strategy.NewTimed(1, strategy.Settings{Faults: strategy.FaultRates{sim.Drop: .05}})
		if _, err := r.Run(context.Background(), s, scenarios.Options{Walk: m, Datastore: c.datastore}); err != nil {
			t.Fatal(err)
		}
	}
	var got strings.Builder
	got.WriteByte('\n')
	for _, k := range slices.Sorted(maps.Keys(m.offers)) {
		got.WriteString(k)
		for o := sim.Delay; o <= sim.Crash; o++ {
			switch {
			case !m.offers[k].Has(o):
			case m.ways[k][o] != 0:
				fmt.Fprintf(&got, " %s(%d)", o, m.ways[k][o].Len())
			default:
				got.WriteString(" " + o.String())
			}
		}
		got.WriteByte('\n')
	}
	if d := cmp.Diff(matrix, got.String()); d != "" {
		t.Errorf("what the ports offer (-written +found):\n%s", d)
	}
}

// Every kind of process can be killed between two of its messages, a leader in
// the middle of its lease among them, and can be paused there.
func TestHazardsReachEveryProcess(t *testing.T) {
	needClocks(t)
	r := runner(t)
	for file, processes := range map[string][]string{
		"testdata/hazards/whereabouts.yaml": {"cni-add", "cni-del", "ip-reconciler", "node-slice-controller", "pod-control-loop"},
		"testdata/hazards/calico.yaml":      {"cni-add", "cni-del", "ipam-controller", "ipam-gc", "tunnel-addresses"},
	} {
		s := load(t, file)
		for i, process := range processes {
			for _, what := range []string{"kill", "pause"} {
				draws := map[string]int{"hazard": 1, "kind": slices.Index(s.Doc.Spec.Hazards.Kinds, what), "when": 0, "process": i, "which": 0, "message": 1}
				rep, err := r.Run(context.Background(), s, scenarios.Options{Walk: &hazard{strategy.NewTimed(1, strategy.Settings{}), draws}})
				if err != nil {
					t.Fatal(err)
				}
				if got := happened(rep); len(got) != 1 || !strings.Contains(got[0], " "+process) {
					t.Errorf("%s %s: happened %q", what, process, got)
				}
			}
		}
	}
}
