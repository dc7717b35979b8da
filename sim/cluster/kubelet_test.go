package cluster_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// onA is the story of one pod on node a of a cluster in which nothing else runs.
func onA(t *testing.T, annotations string, script ...cluster.Entry) []string {
	t.Helper()
	body := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","annotations":{"k8s.v1.cni.cncf.io/networks":"net"` + annotations + `}},
		"spec":{"nodeName":"a","restartPolicy":"Never","containers":[{"name":"c","image":"i"}],"tolerations":[{"operator":"Exists"}]}}`
	return eventLines(run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "Deployment", 0, func(cfg *cluster.Config) {
		cfg.Script = script
		cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "Pod", Namespace: "default", Name: "web", Body: json.RawMessage(body)})
	}, nil, nil))
}

// A pod with restartPolicy Never whose containers had started has failed when its machine comes
// back: its sandbox is stopped, and it gets no other.
//
// Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go, computePodActions (v1.37.2).
func TestNeverRestarted(t *testing.T) {
	reboot := func(at time.Duration) cluster.Entry { return cluster.Entry{At: at, Action: &action.Reboot{Node: "a"}} }
	var phase corev1.PodPhase
	got := onA(t, "", reboot(30*time.Second), at(5*time.Minute, &phase))
	want := []string{
		"0s a up", "0s b up",
		"0s web sandbox-up a", "0s web add-end a 10.0.0.1",
		"30s reboot of node a", "30s web sandbox-down a power lost", "30s a lost power", "1m0s a up", "1m0s web del-end a", "5m0s an inspection",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if phase != corev1.PodFailed {
		t.Errorf("the pod is %s", phase)
	}
}

// tookLong is the end of a call that the runtime has ended.
const tookLong = ": context deadline exceeded: sim: process killed; the plugin that it had started runs on"

// A job completes, whatever the state of the network.
func TestJobEndsInPartition(t *testing.T) {
	p := &action.Partition{Node: "a"}
	p.For.Duration = 10 * time.Minute
	var phase corev1.PodPhase
	got := onA(t, `,"ipamsim.dev/run-for":"60s"`, cluster.Entry{At: 30 * time.Second, Action: p}, at(15*time.Minute, &phase))
	want := []string{
		"0s a up", "0s b up",
		"0s web sandbox-up a", "0s web add-end a 10.0.0.1",
		"30s network partition of node a", "30s a partitioned",
		"1m0s web sandbox-down a containers stopped",
		"3m0s web del-end a" + tookLong, "5m10s web del-end a" + tookLong, "7m20s web del-end a" + tookLong, "9m30s web del-end a" + tookLong,
		"10m30s a reachable again", "10m30s web del-end a", "15m0s an inspection",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if phase != corev1.PodSucceeded {
		t.Errorf("the pod is %s", phase)
	}
}

// inspect is an entry of the script in which a test reads the stored state.
type inspect func(*cluster.Cluster)

func (i inspect) Do(_ context.Context, o *cluster.Operator) error { i(o.Cluster); return nil }
func (inspect) String() string                                    { return "an inspection" }

// at reads the phase of the pod at a time.
func at(when time.Duration, phase *corev1.PodPhase) cluster.Entry {
	return cluster.Entry{At: when, Action: inspect(func(c *cluster.Cluster) {
		*phase = c.Cache.Pod(model.PodRef{Namespace: "default", Name: "web"}).Status.Phase
	})}
}

// The controller marks the pods of a silent node as not ready. The kubelet marks them as ready
// when it is connected again.
func TestReadyAgain(t *testing.T) {
	p := &action.Partition{Node: "a"}
	p.For.Duration = 3 * time.Minute
	var got []corev1.ConditionStatus
	ready := inspect(func(c *cluster.Cluster) {
		for _, condition := range c.Cache.Pod(model.PodRef{Namespace: "default", Name: "web"}).Status.Conditions {
			if condition.Type == corev1.PodReady {
				got = append(got, condition.Status)
			}
		}
	})
	onA(t, "", cluster.Entry{At: time.Minute, Action: p},
		cluster.Entry{At: 50 * time.Second, Action: ready}, cluster.Entry{At: 3 * time.Minute, Action: ready}, cluster.Entry{At: 5 * time.Minute, Action: ready})
	if d := cmp.Diff([]corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionTrue}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
