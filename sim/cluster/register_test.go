package cluster_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// A kubelet registers its Node again when it starts, and not while it runs.
func TestNodeRegisteredAgain(t *testing.T) {
	gone := cluster.Entry{At: time.Minute, Action: &action.Delete{Resource: "nodes", Name: "a"}}
	for _, tt := range []struct {
		name string
		then []cluster.Entry
		want []string
	}{
		{name: "while it runs"},
		{
			name: "restart of the kubelet",
			then: []cluster.Entry{{At: 5 * time.Minute, Action: &action.Kill{Actor: "kubelet/a"}}},
			want: []string{"5m10s a registered again"},
		},
		{
			name: "reboot",
			then: []cluster.Entry{{At: 5 * time.Minute, Action: &action.Reboot{Node: "a"}}},
			want: []string{"5m30s a registered again"},
		},
		{
			name: "deleted while it is off",
			then: []cluster.Entry{
				{At: 30 * time.Second, Action: &action.Crash{Node: "a"}},
				{At: 5 * time.Minute, Action: &action.PowerOn{Node: "a"}},
				{At: 6 * time.Minute, Action: &action.Reboot{Node: "a"}},
			},
			want: []string{"5m0s a registered again"},
		},
		{
			name: "another one was made meanwhile",
			then: []cluster.Entry{{At: 2 * time.Minute, Action: &action.ReplaceNode{Node: "a"}}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			script := append([]cluster.Entry{gone}, tt.then...)
			slices.SortFunc(script, func(a, b cluster.Entry) int { return cmp.Compare(a.At, b.At) })
			got := only(story(t, "StatefulSet", 1, script...), "registered")
			if d := gocmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
