package cluster_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// Server-side apply reports a conflict for a field that another manager has written, unless
// it forces the change. It creates an object that does not exist.
func TestServerSideApply(t *testing.T) {
	object := func(name, value string) json.RawMessage {
		return json.RawMessage(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `","namespace":"default"},"data":{"a":"` + value + `"}}`)
	}
	got := only(eventLines(run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "Deployment", 0, func(cfg *cluster.Config) {
		cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "ConfigMap", Namespace: "default", Name: "c", Body: object("c", "1")})
		for i, a := range []*action.Apply{
			{Object: object("c", "2"), ServerSide: true},
			{Object: object("c", "2"), ServerSide: true, ForceConflicts: true},
			{Object: object("c", "3"), ServerSide: true},
			{Object: object("new", "1"), ServerSide: true},
		} {
			cfg.Script = append(cfg.Script, cluster.Entry{At: time.Duration(i+1) * time.Second, Action: a})
		}
	}, nil, nil)), "kubectl apply")
	if len(got) != 5 || !strings.HasPrefix(got[1], "1s kubectl apply --server-side configmap c: Apply failed with 1 conflict") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}
