package cluster_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/ipam"
)

// A kubelet that is killed ends its pod workers and their calls to the runtime. Its successor finds
// the sandboxes and continues.
func TestKubeletDies(t *testing.T) {
	at := func(d time.Duration, a cluster.Action) cluster.Entry { return cluster.Entry{At: d, Action: a} }
	kill := &action.Kill{Actor: "kubelet/a"}
	remove := &action.Delete{Resource: "pods", Name: "web-0"}
	force := &action.Delete{Resource: "pods", Name: "web-0", Force: true}
	for _, tt := range []struct {
		name   string
		outage outage
		script []cluster.Entry
		want   []string
	}{
		{
			name:   "between two DELs",
			outage: outage{del: span{time.Minute, 65 * time.Second}},
			script: []cluster.Entry{at(time.Minute, remove), at(61*time.Second, kill)},
			want: []string{
				"0s web-0 sandbox-up a", "0s web-0 add-end a 10.0.0.1",
				"1m0s web-0 sandbox-down a containers stopped", "1m0s web-0 del-end a: nobody answers",
				"1m11s web-0 del-end a",
				"1m11s web-0 sandbox-up a", "1m11s web-0 add-end a 10.0.0.1",
				"2m11s web-0 sandbox-removed a",
			},
		},
		{
			name:   "in an ADD",
			outage: outage{takes: 5 * time.Second},
			script: []cluster.Entry{at(2*time.Second, kill)},
			want: []string{
				"0s web-0 sandbox-up a", "2s web-0 add-end a: sim: process killed; the plugin that it had started runs on",
				"2s web-0 sandbox-down a sandbox given up", "2s web-0 del-end a", "2s web-0 sandbox-removed a",
				"12s web-0 sandbox-up a", "17s web-0 add-end a 10.0.0.1",
			},
		},
		{
			name:   "and its pods live on",
			script: []cluster.Entry{at(time.Minute, kill), at(2*time.Minute, remove)},
			want: []string{
				"0s web-0 sandbox-up a", "0s web-0 add-end a 10.0.0.1",
				"2m0s web-0 sandbox-down a containers stopped", "2m0s web-0 del-end a",
				"2m0s web-0 sandbox-up a", "2m0s web-0 add-end a 10.0.0.1",
				"2m10s web-0 sandbox-removed a",
			},
		},
		{
			name:   "and a pod goes meanwhile",
			script: []cluster.Entry{at(time.Minute, kill), at(65*time.Second, force)},
			want: []string{
				"0s web-0 sandbox-up a", "0s web-0 add-end a 10.0.0.1",
				"1m10s web-0 sandbox-down a containers stopped", "1m10s web-0 del-end a",
				"1m10s web-0 sandbox-up a", "1m10s web-0 add-end a 10.0.0.1",
				"2m10s web-0 sandbox-removed a",
			},
		},
		{
			name:   "and nothing is left of a sandbox that is gone",
			script: []cluster.Entry{at(time.Minute, remove), at(2*time.Minute, kill)},
			want: []string{
				"0s web-0 sandbox-up a", "0s web-0 add-end a 10.0.0.1",
				"1m0s web-0 sandbox-down a containers stopped", "1m0s web-0 del-end a",
				"1m0s web-0 sandbox-up a", "1m0s web-0 add-end a 10.0.0.1",
				"1m13s web-0 sandbox-removed a",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := only(inOutage(t, tt.outage, tt.script...), "sandbox-", "-end")
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// A kubelet dies in an ADD: the runtime kills the plugin that it has called, not the IPAM
// plugin that this one has started, and undoes the ADD. The IPAM plugin claims an address
// after that DEL, and no other DEL releases it.
//
// Source: containernetworking/plugins, pkg/ipam/ipam.go, ExecAdd (v1.10.0).
func TestOrphanedAdd(t *testing.T) {
	var claims []model.Claim
	c := run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "StatefulSet", 1, func(cfg *cluster.Config) {
		noMultus(cfg)
		m := *cfg.Manager
		open := m.Open
		m.Open = func(e ipam.Env) (ipam.Instance, error) {
			i, err := open(e)
			add := i.Add
			i.Add = func(ctx context.Context, g *sim.Gate, c ipam.Call) (r ipam.Result, err error) {
				g.Child(func() { time.Sleep(5 * time.Second); r, err = add(ctx, g, c) })
				return r, err
			}
			return i, err
		}
		cfg.Manager = &m
		cfg.Script = []cluster.Entry{
			{At: 2 * time.Second, Action: &action.Kill{Actor: "kubelet/a"}},
			{At: 3 * time.Second, Action: &action.Delete{Resource: "pods", Name: "web-0", Force: true}},
		}
	}, func(c *cluster.Cluster) {
		ended := c.World.Hooks.End
		c.World.Hooks.End = func() {
			ended()
			record, err := c.Instance.Observe(context.Background())
			if err != nil {
				t.Error(err)
			}
			claims = record.Claims
		}
	}, nil)
	want := []string{
		"2s web-0 add-end a" + strings.Replace(tookLong, "context deadline exceeded: ", "", 1), "2s web-0 del-end a",
		"17s web-0 add-end a 10.0.0.2",
	}
	if d := cmp.Diff(want, only(eventLines(c), "-end")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if len(claims) != 2 {
		t.Errorf("claims: %v, want the orphan's and the pod's", claims)
	}
}

// A dead sandbox whose pod is gone is removed by the container garbage collector, which
// runs once a minute and calls DEL twice.
func TestDeadSandboxWithoutPod(t *testing.T) {
	got := alone(t, outage{del: span{0, 3 * time.Minute}},
		cluster.Entry{At: time.Minute, Action: &action.Reboot{Node: "a"}},
		cluster.Entry{At: 65 * time.Second, Action: &action.Delete{Resource: "pods", Name: "web-0", Force: true}})
	want := []string{"2m30s web-0 del-end a: nobody answers", "3m30s web-0 del-end a", "3m30s web-0 del-end a"}
	if d := cmp.Diff(want, only(got, "del-end")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A runtime that is killed leaves its plugins running and remembers its sandboxes. A call
// to the runtime before it is back is retried.
func TestRuntimeRestarts(t *testing.T) {
	kill := func(at time.Duration) cluster.Entry {
		return cluster.Entry{At: at, Action: &action.RestartRuntime{Node: "a"}}
	}
	for _, tt := range []struct {
		name   string
		takes  time.Duration
		script []cluster.Entry
		want   []string
	}{
		{
			name:   "in an ADD, whose claim the next DEL releases",
			takes:  5 * time.Second,
			script: []cluster.Entry{kill(2 * time.Second)},
			want: []string{
				"0s web-0 sandbox-up a", "2s a container runtime killed",
				"2s web-0 add-end a: the container runtime does not answer", "2s web-0 sandbox-down a sandbox given up",
				"12s web-0 del-end a", "12s web-0 sandbox-up a", "17s web-0 add-end a 10.0.0.1",
			},
		},
		{
			name:   "and its containers run on",
			script: []cluster.Entry{kill(time.Minute), {At: 61 * time.Second, Action: &action.Delete{Resource: "pods", Name: "web-0"}}},
			want: []string{
				"0s web-0 sandbox-up a", "0s web-0 add-end a 10.0.0.1", "1m0s a container runtime killed",
				"1m11s web-0 sandbox-down a containers stopped", "1m11s web-0 del-end a",
				"1m11s web-0 sandbox-up a", "1m11s web-0 add-end a 10.0.0.1",
				"1m13s web-0 sandbox-removed a",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := only(inOutage(t, outage{takes: tt.takes}, tt.script...), "sandbox-", "-end", "runtime killed")
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
