package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/model/route"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/longtest"
)

// canaryYAML is the smallest cluster in which every bug of the canary shows: pods
// on two nodes, one that is deleted and comes back, one that goes for good, a
// reconciler, and a rest at the end.
const canaryYAML = `
apiVersion: ipamsim.dev/v1alpha1
kind: Scenario
metadata: {name: canary}
spec:
  ipam: canary
  nodes: [node-a, node-b]
  until: 60s
  settle: %s
  reconcilers:
  - {name: canary-reconciler, schedule: "@every 15s"}
  daemons: [%s]
  latencies:
    stop: {median: 100ms}
  timeline:
  - {at: 20s, delete: {resource: pods, name: web-1}}
  - {at: 30s, scale: {kind: StatefulSet, name: web, replicas: 3}}
  judge: %s
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: net1}
spec:
  config: '{"cniVersion": "0.3.1", "name": "net1", "type": "macvlan", "ipam": {"type": "canary", "range": "10.0.0.0/28"%s}}'
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: 4
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      annotations: {k8s.v1.cni.cncf.io/networks: net1}
      labels: {app: web}
    spec:
      terminationGracePeriodSeconds: 10
      containers: [{name: main, image: registry.example/web:1}]
`

// red is what each invariant needs in addition to its bug, and the other invariants that the bug
// violates. The near miss is the same scenario without the bug.
type red struct {
	invariant string
	network   string // more of the network's configuration
	settle    string // default 0s: only what always holds is judged
	judge     string // default {}
	daemons   string
	also      string // invariants that may be red too, because one thing leads to another
	// fabric makes the network the primary one, whose routes the nodes announce.
	fabric *route.Fabric
}

var reds = []red{
	{invariant: "actor-crash"},
	{invariant: "affinity-mismatch", network: blocks},
	{invariant: "blackholed-address", network: blocks, judge: "{blackholeAfter: 5s}",
		fabric: &route.Fabric{Topology: route.ToR, TopOfRack: route.TopOfRack{MaxLength: 30}}},
	{invariant: "block-contents", network: blocks},
	{invariant: "block-owner", network: blocks, also: "affinity-mismatch"},
	{invariant: "config-status", settle: "30m"},
	{invariant: "convergence", settle: "30s"},
	{invariant: "crash-loop", daemons: "canary-controller", settle: "5m"},
	{invariant: "disallowed-load-balancer-ip", settle: "30m"},
	{invariant: "double-claim"},
	{invariant: "duplicate-address"},
	{invariant: "duplicate-cluster-ip"},
	{invariant: "duplicate-load-balancer-ip"},
	{invariant: "duplicate-node-port"},
	{invariant: "excluded-address", network: `, "exclude": ["10.0.0.1/32", "10.0.0.8/30"]`},
	{invariant: "failed-call"},
	{invariant: "handle-count", network: blocks},
	{invariant: "leaked-affinity", network: blocks, settle: "30s"},
	{invariant: "leaked-claim", judge: "{leakAfter: 20s}", also: "unreleased-claim"},
	{invariant: "leaked-load-balancer-ip", settle: "30m"},
	{invariant: "leaked-service-claim", settle: "30m"},
	{invariant: "leftover-handle", network: blocks, settle: "30s"},
	{invariant: "leftover-reservation", settle: "30s", also: "reservation-count"},
	{invariant: "max-blocks", network: blocks + `, "maxBlocks": 1`},
	{invariant: "out-of-pool"},
	{invariant: "overlap-reservation"},
	{invariant: "overlapping-blocks", network: blocks},
	{invariant: "pool-status", settle: "30m"},
	{invariant: "refused-service"},
	{invariant: "reservation-count"},
	{invariant: "service-families"},
	{invariant: "service-node-ports"},
	{invariant: "slice-conflict", network: `, "slice": 29`, also: "duplicate-address"},
	{invariant: "spinning-reconciler"},
	{invariant: "spurious-exhaustion"},
	{invariant: "starved-node", network: blocks, settle: "30s"},
	{invariant: "strict-affinity", network: blocks + `, "strict": true`},
	{invariant: "stuck", judge: "{stuckAfter: 20s}"},
	{invariant: "surplus-load-balancer-ip"},
	{invariant: "unassigned-node", network: `, "slice": 29, "assigned": true`, settle: "40m"},
	{invariant: "unbacked-sandbox", also: "overlap-reservation duplicate-address reservation-count"},
	{invariant: "unbacked-service", settle: "5m"},
	{invariant: "unreleased-claim", settle: "2m", also: "convergence"},
	{invariant: "unserved-load-balancer", settle: "30m"},
}

// blocks lets nodes claim blocks of four addresses.
const blocks = `, "blocks": 30`

func (x red) yaml(bug string) string {
	if bug != "" {
		bug = fmt.Sprintf(`, "bug": %q`, bug)
	}
	or := func(s, other string) string {
		if s == "" {
			return other
		}
		return s
	}
	return fmt.Sprintf(canaryYAML, or(x.settle, "0s"), x.daemons, or(x.judge, "{}"), x.network+bug)
}

func (x red) scenario(t *testing.T, bug string) *scenarios.Scenario {
	const asks = "annotations: {k8s.v1.cni.cncf.io/networks: net1}"
	text := x.yaml(bug)
	if x.fabric == nil {
		return parse(t, text)
	}
	s := parse(t, strings.Replace(text, asks, "annotations: {}", 1)) // a pod gets the primary network unasked
	s.Primary, s.Doc.Spec.Fabric = "default/net1", *x.fabric
	return s
}

// TestCanary: through the whole simulator, each bug of the canary makes its
// invariant fire, and the near miss makes none fire. No list of what is known of others
// takes it for known.
func TestCanary(t *testing.T) {
	all := invariant.All()
	if len(reds) != len(all) {
		t.Fatalf("%d rows for %d invariants", len(reds), len(all))
	}
	causes, err := known.Load("../"+known.Dir, input.Lists(managers.All(), "")...)
	if err != nil {
		t.Fatal(err)
	}
	r := runner(t)
	for i, x := range reds {
		if x.invariant != all[i].Name {
			t.Fatalf("row %d is of %s, want %s", i, x.invariant, all[i].Name)
		}
		t.Run(x.invariant, func(t *testing.T) {
			bug, miss := x.scenario(t, x.invariant), x.scenario(t, "")
			for _, o := range choices(2, "timed", "random") {
				rep := run(t, r, bug, o)
				where := fmt.Sprintf("%s seed %d", rep.Strategy, rep.Seed)
				if !broken(rep, x.invariant) {
					t.Errorf("%s: stayed green; red: %v", where, names(rep.Violations))
				}
				for i := range rep.Violations {
					if c := cause.Of(rep, &rep.Violations[i]); causes.Find(c) != "" {
						t.Errorf("%s: taken for known: %s", where, c.Key())
					}
				}
				for _, name := range names(rep.Violations) {
					if name != x.invariant && !strings.Contains(x.also, name) {
						t.Errorf("%s: %s is red too", where, name)
					}
				}
				if rep := run(t, r, miss, o); rep.Verdict != reports.Pass {
					t.Errorf("%s: the near miss: %s %s %v", where, rep.Verdict, rep.Reason, rep.Violations)
				}
			}
		})
	}
}

// One pod is enough for a duplicate: it asks for one network twice, and is given one
// address on both interfaces.
func TestCanaryAskedTwice(t *testing.T) {
	r := runner(t)
	x := red{invariant: "duplicate-address"}
	twice := func(bug string) *scenarios.Scenario {
		text := strings.Replace(x.yaml(bug), "networks: net1}", `networks: "net1, net1"}`, 1)
		return parse(t, strings.NewReplacer("replicas: 4", "replicas: 1", "replicas: 3", "replicas: 1", "name: web-1}", "name: web-0}").Replace(text))
	}
	for _, o := range choices(2, "timed", "random") {
		rep := run(t, r, twice(x.invariant), o)
		if got := names(rep.Violations); !slices.Equal(got, []string{x.invariant}) || !strings.Contains(rep.Violations[0].Message, "held twice by one live sandbox: default/web-0 on") {
			t.Errorf("%s seed %d: %v", rep.Strategy, rep.Seed, rep.Violations)
		}
		if rep := run(t, r, twice(""), o); rep.Verdict != reports.Pass {
			t.Errorf("%s seed %d: the near miss: %s %s %v", rep.Strategy, rep.Seed, rep.Verdict, rep.Reason, rep.Violations)
		}
	}
}

func parse(t testing.TB, text string) *scenarios.Scenario {
	t.Helper()
	s, err := managers.All().Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.WithSimpleControllers()
}

// choices are seeds 1 to n under each strategy.
func choices(n uint64, strategies ...string) []scenarios.Options {
	if !longtest.On() {
		n = 1
	}
	var out []scenarios.Options
	for _, name := range strategies {
		for seed := uint64(1); seed <= n; seed++ {
			out = append(out, scenarios.Options{Seed: &seed, Strategy: name})
		}
	}
	return out
}

func broken(rep *reports.Report, name string) bool {
	return slices.Contains(names(rep.Violations), name)
}

// names are the invariants that were violated, sorted, each once.
func names(found []model.Violation) []string {
	var out []string
	for _, v := range found {
		out = append(out, v.Invariant)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
