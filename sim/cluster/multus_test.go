package cluster_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ipamsim/sim/cluster"
)

// A pod whose networks Multus cannot read does not start without them: its ADD
// fails, and the kubelet tries again with a new sandbox.
func TestUnreadableNetworks(t *testing.T) {
	for _, c := range []struct {
		networks string
		again    bool
	}{{`[null]`, true}, {`[{"name":7}]`, true}, {`a/b/c`, true}, {``, false}, {`[]`, false}} {
		annotation, err := json.Marshal(c.networks)
		if err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","annotations":{"k8s.v1.cni.cncf.io/networks":%s}},
			"spec":{"nodeName":"a","restartPolicy":"Never","containers":[{"name":"c","image":"i"}],"tolerations":[{"operator":"Exists"}]}}`, annotation)
		got := strings.Join(told(run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "Deployment", 0, func(cfg *cluster.Config) {
			cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "Pod", Namespace: "default", Name: "web", Body: json.RawMessage(body)})
		}, nil, nil)), "\n")
		if n := strings.Count(got, "sandbox-up"); n == 0 || n > 1 != c.again {
			t.Errorf("%q: %d sandboxes:\n%.500s", c.networks, n, got)
		}
	}
}
