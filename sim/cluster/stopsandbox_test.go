package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/ipam"
)

// outage is a manager whose plugin fails for a while.
type outage struct {
	add, del span
	takes    time.Duration // how long an ADD takes after it has claimed
	late     bool          // a DEL fails after it has released
	lingers  time.Duration // how long a DEL takes after it has released
}

// span is from when to when, in virtual time.
type span struct{ from, to time.Duration }

// of is the manager during the outage.
func (o outage) of(m *ipam.Manager) *ipam.Manager {
	out := *m
	out.Open = func(e ipam.Env) (ipam.Instance, error) {
		i, err := m.Open(e)
		add, del, begin := i.Add, i.Del, time.Now()
		refuse := func(s span) error {
			if now := time.Since(begin); now < s.from || now >= s.to {
				return nil
			}
			return errors.New("nobody answers")
		}
		i.Add = func(ctx context.Context, g *sim.Gate, c ipam.Call) (ipam.Result, error) {
			res, err := add(ctx, g, c)
			select {
			case <-time.After(o.takes):
			case <-ctx.Done():
			}
			return res, errors.Join(err, refuse(o.add))
		}
		i.Del = func(ctx context.Context, g *sim.Gate, c ipam.Call) error {
			refused := refuse(o.del)
			if refused != nil && !o.late {
				return refused
			}
			err := del(ctx, g, c)
			select {
			case <-time.After(o.lingers):
			case <-ctx.Done():
			}
			return errors.Join(err, refused)
		}
		return i, err
	}
	return &out
}

// inOutage is the story of a StatefulSet of one pod.
func inOutage(t *testing.T, o outage, script ...cluster.Entry) []string {
	t.Helper()
	return eventLines(run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "StatefulSet", 1, func(cfg *cluster.Config) {
		cfg.Manager, cfg.Script = o.of(cfg.Manager), script
	}, nil, nil))
}

// alone is inOutage without Multus: the manager's network is the pod's own.
func alone(t *testing.T, o outage, script ...cluster.Entry) []string {
	t.Helper()
	return eventLines(run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "StatefulSet", 1, func(cfg *cluster.Config) {
		noMultus(cfg)
		cfg.Manager, cfg.Script = o.of(cfg.Manager), script
	}, nil, nil))
}

// noMultus gives the manager's network to every pod; none asks for it.
func noMultus(cfg *cluster.Config) {
	cfg.Primary = cfg.Networks[0].Key
	web := &cfg.Objects[len(cfg.Objects)-1]
	web.Body = bytes.Replace(web.Body, []byte(`"k8s.v1.cni.cncf.io/networks":"net"`), nil, 1)
}

// A kubelet retries a sandbox whose DEL fails. Until then its pod is neither removed nor has a
// successor.
func TestDelUntilItSucceeds(t *testing.T) {
	got := inOutage(t, outage{del: span{time.Minute, 105 * time.Second}},
		cluster.Entry{At: time.Minute, Action: &action.Delete{Resource: "pods", Name: "web-0"}})
	want := []string{
		"0s a up", "0s b up",
		"0s web-0 sandbox-up a", "0s web-0 add-end a 10.0.0.1",
		"1m0s kubectl delete pods web-0",
		"1m0s web-0 sandbox-down a containers stopped",
		"1m0s web-0 del-end a: nobody answers", "1m10s web-0 del-end a: nobody answers", "1m20s web-0 del-end a: nobody answers",
		"1m30s web-0 del-end a: nobody answers", "1m40s web-0 del-end a: nobody answers",
		"1m50s web-0 del-end a",
		"1m50s web-0 sandbox-up a", "1m50s web-0 add-end a 10.0.0.1",
		"2m13s web-0 sandbox-removed a",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A change of a pod reaches its worker immediately, even while the worker waits.
func TestDelAgainWhenForced(t *testing.T) {
	got := alone(t, outage{del: span{time.Minute, 62 * time.Second}},
		cluster.Entry{At: time.Minute, Action: &action.Delete{Resource: "pods", Name: "web-0"}},
		cluster.Entry{At: 65 * time.Second, Action: &action.Delete{Resource: "pods", Name: "web-0", Force: true}})
	want := []string{
		"1m0s web-0 del-end a: nobody answers",
		"1m5s kubectl delete pods web-0 --grace-period=0 --force",
		"1m5s web-0 del-end a",
	}
	if d := cmp.Diff(want, only(got, "1m0s web-0 del-end", "1m5s web-0 del-end", "--force")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A deletion does not interrupt an ADD: the ADD completes, and the DEL comes after it.
//
// Source: pkg/kubelet/kubelet.go, SyncPod, which takes the cancellation out of its context
// (v1.37.2).
func TestDeletedInAdd(t *testing.T) {
	got := inOutage(t, outage{takes: 5 * time.Second},
		cluster.Entry{At: 2 * time.Second, Action: &action.Delete{Resource: "pods", Name: "web-0"}})
	want := []string{
		"0s web-0 sandbox-up a", "5s web-0 add-end a 10.0.0.1",
		"5s web-0 sandbox-down a sandbox given up", "5s web-0 del-end a",
		"5s web-0 sandbox-up a", "10s web-0 add-end a 10.0.0.1",
		"13s web-0 sandbox-removed a",
	}
	if d := cmp.Diff(want, only(got, "sandbox-", "-end")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A pod that is deleted by force has a successor of the same name immediately, possibly on
// the same node. The new pod does not wait for the DEL of the old one, which housekeeping
// retries every 2 s.
//
// Source: pkg/kubelet/pod_workers.go, allowPodStart; pkg/kubelet/kubelet_pods.go,
// HandlePodCleanups (v1.37.2).
func TestNamesakeDoesNotWait(t *testing.T) {
	got := alone(t, outage{del: span{time.Minute, 65 * time.Second}},
		cluster.Entry{At: time.Minute, Action: &action.Delete{Resource: "pods", Name: "web-0", Force: true}})
	want := []string{
		"0s web-0 sandbox-up a", "0s web-0 add-end a 10.0.0.1",
		"1m0s web-0 sandbox-down a containers stopped", "1m0s web-0 del-end a: nobody answers",
		"1m0s web-0 sandbox-up a", "1m0s web-0 add-end a 10.0.0.2",
		"1m2s web-0 del-end a: nobody answers", "1m4s web-0 del-end a: nobody answers", "1m6s web-0 del-end a",
		"1m13s web-0 del-end a", "1m13s web-0 del-end a", "1m13s web-0 sandbox-removed a",
	}
	if d := cmp.Diff(want, only(got, "sandbox-", "-end")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A pod that goes while its DEL is under way is housekeeping's after it.
func TestGoesDuringDel(t *testing.T) {
	got := alone(t, outage{del: span{time.Minute, 62 * time.Second}, late: true, lingers: 500 * time.Millisecond},
		cluster.Entry{At: time.Minute, Action: &action.Delete{Resource: "pods", Name: "web-0"}},
		cluster.Entry{At: time.Minute + 200*time.Millisecond, Action: &action.Delete{Resource: "pods", Name: "web-0", Force: true}})
	want := []string{
		"1m0s web-0 del-end a: nobody answers", "1m3s web-0 del-end a",
		"1m14s web-0 del-end a", "1m14s web-0 del-end a",
	}
	if d := cmp.Diff(want, only(got, "del-end")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A kubelet that missed a forced deletion stops the sandbox when it receives the deletion.
//
// Source: pkg/kubelet/kubelet.go, HandlePodRemoves (v1.37.2).
func TestForcedAndHeardLate(t *testing.T) {
	p := &action.Partition{Node: "a"}
	p.For.Duration = 2 * time.Minute
	got := inOutage(t, outage{},
		cluster.Entry{At: time.Minute, Action: p},
		cluster.Entry{At: 2 * time.Minute, Action: &action.Delete{Resource: "pods", Name: "web-0", Force: true}})
	want := []string{
		"0s web-0 sandbox-up a", "0s web-0 add-end a 10.0.0.1",
		"2m0s web-0 sandbox-up b", "2m0s web-0 add-end b 10.0.0.2",
		"3m0s a reachable again",
		"3m0s web-0 sandbox-down a containers stopped", "3m0s web-0 del-end a", "3m13s web-0 sandbox-removed a",
	}
	if d := cmp.Diff(want, only(got, "sandbox-", "-end", "reachable")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A runtime makes one attempt to undo a failed ADD, and forgets the sandbox.
func TestFailedAddIsUndoneOnce(t *testing.T) {
	got := alone(t, outage{add: span{0, 5 * time.Second}, del: span{0, 5 * time.Second}})
	want := []string{
		"0s a up", "0s b up",
		"0s web-0 sandbox-up a", "0s web-0 add-end a: nobody answers",
		"0s web-0 sandbox-down a sandbox given up", "0s web-0 del-end a: nobody answers", "0s web-0 sandbox-removed a",
		"10s web-0 sandbox-up a", "10s web-0 add-end a 10.0.0.1",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// The collector, which runs once a minute, removes the sandboxes of pods that are gone. It calls
// DEL twice more for each, until both succeed.
//
// Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go, removeSandbox (v1.37.2).
func TestRemovalCallsDelAgain(t *testing.T) {
	got := alone(t, outage{del: span{100 * time.Second, 3 * time.Minute}},
		cluster.Entry{At: 90 * time.Second, Action: &action.Delete{Resource: "pods", Name: "web-0"}})
	want := []string{
		"1m30s web-0 del-end a",
		"2m13s web-0 del-end a: nobody answers",
		"3m13s web-0 del-end a", "3m13s web-0 del-end a", "3m13s web-0 sandbox-removed a",
	}
	if d := cmp.Diff(want, only(got, "del-end", "removed")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A machine that loses its power between the first DEL and the removal has the sandbox on
// record when it is back: DEL is called again.
func TestRemovalAfterReboot(t *testing.T) {
	got := alone(t, outage{},
		cluster.Entry{At: 90 * time.Second, Action: &action.Scale{Kind: "StatefulSet", Name: "web", Replicas: 0}},
		cluster.Entry{At: 95 * time.Second, Action: &action.Reboot{Node: "a"}})
	want := []string{"1m30s web-0 del-end a", "3m5s web-0 del-end a", "3m5s web-0 del-end a", "3m5s web-0 sandbox-removed a"}
	if d := cmp.Diff(want, only(got, "del-end", "removed")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// The newest dead sandbox of a pod that runs is kept, and stopped again when the pod goes: the
// kubelet keeps the pod's newest dead container. The sandbox before that is removed.
//
// Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go, evictSandboxes (v1.37.2).
func TestNewestDeadSandboxIsKept(t *testing.T) {
	got := alone(t, outage{},
		cluster.Entry{At: 30 * time.Second, Action: &action.Reboot{Node: "a"}},
		cluster.Entry{At: 5 * time.Minute, Action: &action.Reboot{Node: "a"}},
		cluster.Entry{At: 10 * time.Minute, Action: &action.Scale{Kind: "StatefulSet", Name: "web", Replicas: 0}})
	want := []string{
		"1m0s web-0 del-end a", "5m30s web-0 del-end a", "5m30s web-0 del-end a",
		"6m30s web-0 del-end a", "6m30s web-0 del-end a", "6m30s web-0 sandbox-removed a",
		"10m0s web-0 del-end a", "10m0s web-0 del-end a",
		"10m30s web-0 del-end a", "10m30s web-0 del-end a", "10m30s web-0 sandbox-removed a",
		"10m30s web-0 del-end a", "10m30s web-0 del-end a", "10m30s web-0 sandbox-removed a",
	}
	if d := cmp.Diff(want, only(got, "del-end", "removed")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// The runtime ends a call that takes too long: 4 min to make a sandbox, 2 min to stop one.
//
// Source: cri-client/pkg/remote_runtime.go, RunPodSandbox and StopPodSandbox (v1.37.2).
func TestCallsHaveDeadlines(t *testing.T) {
	const killed = ": context deadline exceeded: sim: process killed"
	got := alone(t, outage{takes: 250 * time.Second, lingers: 130 * time.Second})
	want := []string{"4m0s web-0 add-end a" + killed, "5m0s web-0 del-end a" + killed, "9m10s web-0 add-end a" + killed}
	if d := cmp.Diff(want, only(got, "-end")[:3]); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A sandbox answers on its address until its DEL has succeeded, even if the address was
// released: the next pod that gets the address shares it. There is no duplicate while the
// claim exists, or if the DEL removes the interface soon.
func TestStoppedSandboxAnswers(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    outage
		want []string
	}{
		{"a DEL fails", outage{del: span{time.Minute, 105 * time.Second}}, nil},
		{"it fails after it has released", outage{del: span{time.Minute, 105 * time.Second}, late: true}, []string{"duplicate-address"}},
		{"it has released and goes on", outage{lingers: 90 * time.Second}, []string{"duplicate-address"}},
		{"it has released and goes on for a while", outage{lingers: 4 * time.Second}, nil},
	} {
		c := run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "Deployment", 1, func(cfg *cluster.Config) {
			cfg.Manager = tt.o.of(cfg.Manager)
			cfg.Settings.LeakAfter = 30 * time.Second
			cfg.Script = []cluster.Entry{{At: time.Minute, Action: &action.Delete{Resource: "pods", All: true}}}
		}, nil, nil)
		var got []string
		for _, v := range c.Checker.Violations() {
			got = append(got, v.Invariant)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: -want +got:\n%s", tt.name, d)
		}
	}
}
