package cluster_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// A kubelet that is killed takes its pod workers with it, and what they have asked of
// the runtime. Its successor finds the sandboxes and goes on.
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
			},
		},
		{
			name:   "in an ADD",
			outage: outage{takes: 5 * time.Second},
			script: []cluster.Entry{at(2*time.Second, kill)},
			want: []string{
				"0s web-0 sandbox-up a", "2s web-0 add-end a: sim: process killed",
				"2s web-0 sandbox-down a sandbox given up", "2s web-0 del-end a",
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
			},
		},
		{
			name:   "and a pod goes meanwhile",
			script: []cluster.Entry{at(time.Minute, kill), at(65*time.Second, force)},
			want: []string{
				"0s web-0 sandbox-up a", "0s web-0 add-end a 10.0.0.1",
				"1m10s web-0 sandbox-down a containers stopped", "1m10s web-0 del-end a",
				"1m10s web-0 sandbox-up a", "1m10s web-0 add-end a 10.0.0.1",
			},
		},
		{
			name:   "and nothing is left of a sandbox that is gone",
			script: []cluster.Entry{at(time.Minute, remove), at(2*time.Minute, kill)},
			want: []string{
				"0s web-0 sandbox-up a", "0s web-0 add-end a 10.0.0.1",
				"1m0s web-0 sandbox-down a containers stopped", "1m0s web-0 del-end a",
				"1m0s web-0 sandbox-up a", "1m0s web-0 add-end a 10.0.0.1",
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

// What is dead and nobody's is for the container garbage collector, which comes by
// once a minute.
func TestDeadSandboxOfNobody(t *testing.T) {
	got := alone(t, outage{del: span{0, 3 * time.Minute}},
		cluster.Entry{At: time.Minute, Action: &action.Reboot{Node: "a"}},
		cluster.Entry{At: 65 * time.Second, Action: &action.Delete{Resource: "pods", Name: "web-0", Force: true}})
	want := []string{"2m30s web-0 del-end a: nobody answers", "3m30s web-0 del-end a"}
	if d := cmp.Diff(want, only(got, "del-end")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A runtime that is killed leaves what it was doing to itself, and remembers its
// sandboxes. Whoever calls it meanwhile tries again.
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
