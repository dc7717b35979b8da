package cluster_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// A pod that already runs and names a workload of the same file as its owner counts as a replica of
// the workload. If it is deleted, it is created again.
func TestOwnedFromTheStart(t *testing.T) {
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-0","namespace":"default","labels":{"app":"web"},
		"annotations":{"k8s.v1.cni.cncf.io/networks":"net","ipamsim.dev/containerID":"c1"},
		"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"imported","controller":true}]},
		"spec":{"nodeName":"b","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}}`
	c := run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "StatefulSet", 1, func(cfg *cluster.Config) {
		cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "Pod", Namespace: "default", Name: "web-0", Body: json.RawMessage(pod)})
		cfg.Script = []cluster.Entry{{At: time.Minute, Action: &action.Drain{Node: "b"}}}
	}, nil, nil)
	want := []string{
		"0s a up", "0s web-0 sandbox-up b found running", "0s b up",
		"1m0s kubectl drain b", "1m0s web-0 sandbox-down b containers stopped", "1m0s web-0 del-end b",
		"1m0s web-0 sandbox-up a", "1m0s web-0 add-end a 10.0.0.1", "1m23s web-0 sandbox-removed b",
	}
	if d := cmp.Diff(want, eventLines(c)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
