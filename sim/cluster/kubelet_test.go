package cluster_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// onA is the story of one pod on node a of a cluster in which nothing else runs.
func onA(t *testing.T, annotations string, script ...cluster.Entry) []string {
	t.Helper()
	body := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","annotations":{"k8s.v1.cni.cncf.io/networks":"net"` + annotations + `}},
		"spec":{"nodeName":"a","restartPolicy":"Never","containers":[{"name":"c","image":"i"}],"tolerations":[{"operator":"Exists"}]}}`
	return told(run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "Deployment", 0, func(cfg *cluster.Config) {
		cfg.Script = script
		cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "Pod", Namespace: "default", Name: "web", Body: json.RawMessage(body)})
	}, nil, nil))
}

// A pod whose containers had started and that is not to be restarted has failed when its
// machine comes back: its sandbox is stopped, and it gets no other.
//
// Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go, computePodActions (v1.34.1).
func TestNeverRestarted(t *testing.T) {
	reboot := func(at time.Duration) cluster.Entry { return cluster.Entry{At: at, Action: &action.Reboot{Node: "a"}} }
	got := onA(t, "", reboot(30*time.Second))
	want := []string{
		"0s a up", "0s b up",
		"0s web sandbox-up a", "0s web add-end a 10.0.0.1",
		"30s reboot of node a", "30s web sandbox-down a power lost", "30s a lost power", "1m0s a up", "1m0s web del-end a",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A job's work is done when it is done, whatever has become of the network.
func TestJobEndsInPartition(t *testing.T) {
	p := &action.Partition{Node: "a"}
	p.For.Duration = 10 * time.Minute
	got := onA(t, `,"ipamsim.dev/run-for":"60s"`, cluster.Entry{At: 30 * time.Second, Action: p})
	want := []string{
		"0s a up", "0s b up",
		"0s web sandbox-up a", "0s web add-end a 10.0.0.1",
		"30s network partition of node a", "30s a partitioned",
		"1m0s web sandbox-down a containers stopped",
		"10m30s a reachable again", "10m30s web del-end a",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
