package scenarios_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
)

// What Kubernetes' own controllers do, by how many sandboxes there come to be, and the
// simple ones as far as they can. That it is what Kubernetes' own tests assert is what the tests of
// sim/controlplane show.
func TestRealControllers(t *testing.T) {
	r := runner(t)
	for _, x := range []struct {
		file   string
		want   int
		gone   int  // at the end; -1: not counted
		simple bool // the simple ones do the same, or refuse it
		why    string
	}{
		{"full-disruption", 2, -1, true, "no pod is evicted while every node is silent"},
		{"rollout", 4, -1, true, "a changed template replaces the pods"},
		{"daemonset-and-taint", 1, -1, true, "a DaemonSet's pods tolerate only what they say, and six taints"},
		{"namespace-deletion", 2, -1, false, "no pod is made in a namespace that goes"},
		{"toleration-seconds", 3, 1, true, "a pod stays on a silent node for as long as it says, and no longer"},
		{"job-fails", 3, 3, true, "a Job whose pods fail gives up after its back-off limit"},
		{"owner-deleted", 2, 2, true, "what a deleted Deployment owned goes"},
	} {
		t.Run(x.file, func(t *testing.T) {
			file := "testdata/controllers/" + x.file + ".yaml"
			s := load(t, file)
			rep := run(t, r, s, scenarios.Options{})
			if n := sandboxesMade(rep.History); n != x.want {
				t.Errorf("%d sandboxes, want %d: %s", n, x.want, x.why)
			}
			if n := became(rep.History, model.SandboxDown); x.gone >= 0 && n != x.gone {
				t.Errorf("%d sandboxes have gone, want %d: %s", n, x.gone, x.why)
			}
			if again := run(t, r, s, scenarios.Options{}); hermetic.Enabled && (again.Digest != rep.Digest || rep.Foreign != 0) {
				t.Errorf("digest %s, then %s; %d foreign wake-ups", rep.Digest, again.Digest, rep.Foreign)
			}
			if x.simple {
				if n := sandboxesMade(run(t, r, withSimple(t, file), scenarios.Options{}).History); n != x.want {
					t.Errorf("the simple ones have %d sandboxes", n)
				}
			}
			t.Logf("%d steps, %v", len(rep.Trace.Steps), violated(rep))
		})
	}
}

// A drain evicts no more pods than their budget allows, retries every five seconds, and continues as
// soon as another pod is ready; without evictions it ignores budgets.
//
// Kubernetes asserts the same: pkg/registry/core/pod/storage, TestEviction,
// pkg/controller/disruption, TestIntegerMaxUnavailable, and test/e2e/apps, "should block
// an eviction until the PDB is updated to allow it" (v1.37.2).
func TestBudgetAtDrain(t *testing.T) {
	r := runner(t)
	const file = "testdata/controllers/pdb-at-drain.yaml"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for drain, want := range map[string][2]int{
		"{node: w1}": {1, 2}, "{node: w1, disableEviction: true}": {2, 2}, "{node: w1, force: true}": {2, 2},
	} {
		s, err := managers.All().Parse(file, []byte(strings.Replace(string(b), "{node: w1}", drain, 1)))
		if err != nil {
			t.Fatal(err)
		}
		var got [2]int // stopped while no other can run, and in the end
		for _, e := range run(t, r, s, scenarios.Options{}).History.Events {
			if e.Kind == model.SandboxDown {
				if got[1]++; e.At < 2*time.Minute {
					got[0]++
				}
			}
		}
		if got != want {
			t.Errorf("%s: %d pods stopped while no other can run, %d in the end, want %v", drain, got[0], got[1], want)
		}
	}
	if _, err := managers.All().Parse(file, []byte(strings.Replace(string(b), "{node: w1}", "{node: w1, force: true, timeout: 1m}", 1))); err == nil ||
		!strings.Contains(err.Error(), file+":12: spec.timeline[2].drain.timeout: only of evictions") {
		t.Errorf("a timeout of deletions: %v", err)
	}
	if _, err := managers.All().Parse(file, []byte(strings.Replace(string(b), "controllers: real", "controllers: simple", 1))); err == nil ||
		!strings.Contains(err.Error(), file+":22: kind: \"PodDisruptionBudget\" needs Kubernetes' own controllers, with the simple ones evictions do not meet budgets: want spec.controllers: real, or leave it out") {
		t.Errorf("with the simple ones: %v", err)
	}
}

// While the leader of two kube-controller-managers is stopped, no pods are created until its lease
// expires; when it continues, it creates none.
func TestDeposedManager(t *testing.T) {
	r := runner(t)
	s := load(t, "testdata/controllers/deposed-manager.yaml")
	rep := run(t, r, s, scenarios.Options{})
	var at []time.Duration
	for _, e := range rep.History.Events {
		if e.Kind == model.SandboxUp {
			at = append(at, e.At)
		}
	}
	if len(at) != 4 || at[1] > 10*time.Second || at[2] < 40*time.Second || at[3] > 70*time.Second {
		t.Errorf("sandboxes at %v", at)
	}
	if again := run(t, r, s, scenarios.Options{}); hermetic.Enabled && (again.Digest != rep.Digest || rep.Foreign != 0) {
		t.Errorf("digest %s, then %s; %d foreign wake-ups", rep.Digest, again.Digest, rep.Foreign)
	}
}

// With the gate on, as it is by default since 1.35, the pods of a StatefulSet go two at a time;
// off, one by one, and the API server drops the field. Other runs of the process have the gate as it was.
//
// Kubernetes asserts the same: pkg/controller/statefulset, TestStatefulSetControlRollingUpdateWithMaxUnavailable (v1.37.2).
func TestFeatureGate(t *testing.T) {
	r := runner(t)
	const file = "testdata/controllers/feature-gate.yaml"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		gate string
		want int
	}{{"MaxUnavailableStatefulSet: true", 2}, {"", 2}, {"MaxUnavailableStatefulSet: false", 1}} {
		s, err := managers.All().Parse(file, []byte(strings.Replace(string(b), "MaxUnavailableStatefulSet: true", x.gate, 1)))
		if err != nil {
			t.Fatal(err)
		}
		down := 0 // before the first is there again
		for _, e := range run(t, r, s, scenarios.Options{Store: scenarios.Memory}).History.Events {
			if e.Kind == model.SandboxDown {
				down++
			}
			if e.Kind == model.SandboxUp && down > 0 {
				break
			}
		}
		if down != x.want {
			t.Errorf("{%s}: %d pods down at the same time, want %d", x.gate, down, x.want)
		}
	}
	for gate, want := range map[string]string{
		"MaxUnavailableStatefulset: true":  `:8: spec.controlPlane.featureGates.MaxUnavailableStatefulset: "MaxUnavailableStatefulset" is no feature gate of Kubernetes 1.37, did you mean "MaxUnavailableStatefulSet"?`,
		"DisableAllocatorDualWrite: false": ":8: spec.controlPlane.featureGates.DisableAllocatorDualWrite: DisableAllocatorDualWrite is locked to true in Kubernetes 1.37",
	} {
		if _, err := managers.All().Parse(file, []byte(strings.Replace(string(b), "MaxUnavailableStatefulSet: true", gate, 1))); err == nil || !strings.Contains(err.Error(), file+want) {
			t.Errorf("%s: %v", gate, err)
		}
	}
}

// withSimple is a scenario with the simple controllers.
func withSimple(t *testing.T, file string) *scenarios.Scenario {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := managers.All().Parse(file, []byte(strings.Replace(string(b), "controllers: real", "controllers: simple", 1)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sandboxesMade(h *model.History) int { return became(h, model.SandboxUp) }

// became counts sandboxes by what became of them.
func became(h *model.History, what model.EventKind) (n int) {
	for _, e := range h.Events {
		if e.Kind == what {
			n++
		}
	}
	return n
}

// A program that does not have them says so, and what they cannot do is refused.
func TestControllersRefused(t *testing.T) {
	b, err := os.ReadFile("testdata/controllers/rollout.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ with, want string }{
		{"controllers: reel", `spec.controllers: "reel" is not known, did you mean "real"?`},
		{"controllers: real\n  timers: {toleration: 1m}", "spec.timers.toleration: Kubernetes' own controllers have no such setting: give pods a toleration with tolerationSeconds, or set controllers: simple"},
		{"controllers: real\n  timers: {podGC: 1m}", "spec.timers.podGC: Kubernetes' own controllers have no such setting: remove it, or set controllers: simple"},
	} {
		_, err := managers.All().Parse("x.yaml", []byte(strings.Replace(string(b), "controllers: real", x.with, 1)))
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %s", x.with, err, x.want)
		}
	}
}

// What is said to the simple controllers and they cannot do is refused with its line, and
// never ignored; Kubernetes' own take it.
func TestBeyondSimple(t *testing.T) {
	b, err := os.ReadFile("testdata/controllers/rollout.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(b), "controllers: real", "controllers: simple", 1)
	for _, x := range []struct{ from, to, want string }{
		{"  replicas: 2", "  replicas: 2\n  paused: true", "x.yaml:23: Deployment default/web: spec.paused: the simple controllers ignore it: set controllers: real, or remove it"},
		{"    spec: {", "    spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}], ", "spec.template.spec.topologySpreadConstraints: the simple controllers ignore it"},
		{"  - {at: 20s, patch:", "  - {at: 10s, delete: {resource: namespaces, name: x}}\n  - {at: 20s, patch:", "spec.timeline[0].delete.resource: deleting a namespace deletes its objects"},
		{"apiVersion: apps/v1\nkind: Deployment", "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec: {schedule: '* * * * *', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}\n---\napiVersion: apps/v1\nkind: Deployment", "CronJob default/c: kind: the simple controllers ignore it"},
	} {
		changed := strings.Replace(text, x.from, x.to, 1)
		if changed == text {
			t.Errorf("%q is not there", x.from)
		}
		if _, err := managers.All().Parse("x.yaml", []byte(changed)); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: %v, want %s", x.to, err, x.want)
		}
		if _, err := managers.All().Parse("x.yaml", []byte(strings.Replace(changed, "controllers: simple", "controllers: real", 1))); err != nil {
			t.Errorf("%q: Kubernetes' own: %v", x.to, err)
		}
	}
}
