package scenarios_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/reports"
	"ipamsim/scenarios"
)

// TestQuiet: where the address manager does nothing wrong, no invariant fires,
// whatever happens to the cluster. A violation here is a false alarm: of the
// cluster, which made something up, or of the oracle, which does not know what
// it should.
//
// Without -full the seeds are shared out among the scenarios; with it each gets
// all 1,000 of them.
func TestQuiet(t *testing.T) {
	calm := quiet(t)
	r := runner(t)
	seeds, stride := uint64(50), len(calm)
	if *full {
		seeds, stride = 1000, 1
	}
	runs := 0
	for i, c := range calm {
		t.Run(c.Name(), func(t *testing.T) {
			for seed := uint64(1 + i%stride); seed <= seeds; seed += uint64(stride) {
				rep := run(t, r, c.Scenario, scenarios.Options{Seed: &seed, Strategy: c.strategies[int(seed)/stride%len(c.strategies)]})
				if runs++; rep.Verdict != reports.Pass {
					t.Errorf("%s seed %d: %s %s %v", rep.Strategy, seed, rep.Verdict, rep.Reason, rep.Violations)
				}
			}
		})
	}
	t.Logf("%d runs of %d scenarios", runs, len(calm))
}

// calm is a scenario in which nothing may fire, under these strategies.
type calm struct {
	*scenarios.Scenario
	strategies []string
}

// quiet are the scenarios of TestQuiet: the canary without a bug, which is right
// under every schedule, and the real upstreams where nothing provokes them. Those
// keep to timed, because it is their latencies that make them calm.
func quiet(t testing.TB) []calm {
	t.Helper()
	var out []calm
	for _, s := range stories {
		for _, faults := range []int{0, 5} {
			text := fmt.Sprintf(quietYAML, s.name, faults, bounds[faults], faults, s.timeline) + strings.Join(s.workloads, "")
			out = append(out, calm{parse(t, text), []string{"timed", "random"}})
		}
	}
	files, err := filepath.Glob("ok-*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no calm scenarios: %v", err)
	}
	for _, f := range files {
		out = append(out, calm{load(t, f), []string{"timed"}})
	}
	return out
}

// A run that a limit cuts short never came to rest: what holds only then is not
// judged of it.
func TestCutShort(t *testing.T) {
	text := fmt.Sprintf(quietYAML, "cut", 0, bounds[0], 0, "[]") + work("StatefulSet", "web", "net1", "replicas: 3")
	for _, steps := range []int{20, 60, 100} {
		s := parse(t, strings.Replace(text, "  judge:", fmt.Sprintf("  limits: {steps: %d}\n  judge:", steps), 1))
		if rep := run(t, runner(t), s, scenarios.Options{}); rep.Verdict != reports.Unknown || len(rep.Violations) > 0 {
			t.Errorf("%d steps: %s %v, want unknown", steps, rep.Verdict, rep.Violations)
		}
	}
}

// stories are events of clusters whose address manager is correct. No pod is deleted by force: that
// removes its object while its containers run, and then no manager that trusts the API can be correct.
var stories = []struct {
	name, timeline string
	workloads      []string
}{
	{"power", `
  - {at: 20s, crash: {node: node-a}}
  - {at: 25s, reboot: {node: node-b, down: 5s}}
  - {at: 32s, scale: {kind: StatefulSet, name: web, replicas: 1}}
  - {at: 70s, powerOn: {node: node-a}}
  - {at: 75s, scale: {kind: StatefulSet, name: web, replicas: 3}}
  - {at: 80s, crash: {node: node-b, forget: true}}
  - {at: 85s, powerOn: {node: node-b}}`,
		[]string{work("StatefulSet", "web", "net1, net2", "replicas: 3, podManagementPolicy: Parallel"), work("Deployment", "app", "net1", "replicas: 2")}},
	{"partition", `
  - {at: 15s, partition: {node: node-a}}
  - {at: 30s, scale: {kind: Deployment, name: app, replicas: 4}}
  - {at: 60s, heal: {node: node-a}}
  - {at: 65s, drain: {node: node-b}}
  - {at: 75s, cordon: {node: node-b, undo: true}}
  - {at: 80s, pause: {actor: node-b, for: 4s}}
  - {at: 82s, scale: {kind: Deployment, name: app, replicas: 1}}`,
		[]string{work("StatefulSet", "db", "net1", "replicas: 2"), work("Deployment", "app", "net2", "replicas: 2")}},
	{"replace", `
  - {at: 20s, replace: {node: node-a}}
  - {at: 40s, replace: {node: node-b, as: node-c}}
  - {at: 60s, delete: {resource: daemonsets, name: agent}}
  - {at: 75s, replace: {node: node-a, keepObject: true}}
  - {at: 80s, delete: {resource: pods, all: true}}`,
		[]string{work("DaemonSet", "agent", "net1", ""), work("Job", "batch", "net2", "completions: 4, parallelism: 2"), work("StatefulSet", "db", "net1", "replicas: 2")}},
}

// bounds are the numbers of faults in a run and what is judged by the clock then.
// One fault may hold a message for a minute, so with five of them an ADD or DEL
// takes any time below five.
var bounds = map[int]string{0: "{leakAfter: 100s, stuckAfter: 60s}", 5: "{stuckAfter: 10m}"}

// quietYAML has no tail of slow messages: a tail has no upper bound, and stuck must report a DEL whose
// response takes longer than stuckAfter.
const quietYAML = `
apiVersion: ipamsim.dev/v1alpha1
kind: Scenario
metadata: {name: canary-%s-%d-faults}
spec:
  ipam: canary
  controllers: simple
  nodes: [node-a, node-b]
  until: 100s
  settle: 200s
  mayFail: true
  reconcilers:
  - {name: canary-reconciler, schedule: "@every 25s", count: 2, overlap: Allow}
  latencies:
    api: {median: 5ms, spread: 1.5}
    watch: {median: 20ms, spread: 1.5}
    sandbox: {median: 200ms}
    annotate: {median: 500ms, spread: 1}
    stop: {median: 1s}
  churn:
  - {every: 12s, from: 5s, until: 90s}
  timers: {nodeMonitorGrace: 10s, toleration: 15s}
  judge: %s
  faults: {max: %d}
  timeline: %s
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: net1}
spec:
  config: '{"cniVersion": "0.3.1", "name": "net1", "type": "macvlan", "ipam": {"type": "canary", "range": "10.0.0.0/28", "exclude": ["10.0.0.4/31"]}}'
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: net2}
spec:
  config: '{"cniVersion": "0.3.1", "name": "net2", "type": "macvlan", "ipam": {"type": "canary", "range": "10.1.0.0/25", "network_name": "blue", "slice": 28}}'
`

// work is the manifest of a workload whose pods want these networks.
func work(kind, name, networks, spec string) string {
	api, selector, restart := "apps/v1", fmt.Sprintf("selector: {matchLabels: {app: %s}}, ", name), "Always"
	if kind == "Job" {
		api, selector, restart = "batch/v1", "", "Never"
	}
	if spec != "" {
		spec += ", "
	}
	return fmt.Sprintf(`---
apiVersion: %s
kind: %s
metadata: {name: %s}
spec: {%s%stemplate: {
  metadata: {labels: {app: %s}, annotations: {k8s.v1.cni.cncf.io/networks: "%s"}},
  spec: {restartPolicy: %s, terminationGracePeriodSeconds: 10, containers: [{name: main, image: registry.example/main:1}]}}}
`, api, kind, name, spec, selector, name, networks, restart)
}
