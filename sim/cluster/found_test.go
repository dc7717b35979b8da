package cluster_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ipamsim/model"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// A container that runs at the start belongs to its pod, and the truth shows when the pod is being
// deleted.
func TestFoundRunning(t *testing.T) {
	var got []string
	see := inspect(func(c *cluster.Cluster) {
		s, err := c.Checker.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		key := model.PodRef{Namespace: "default", Name: "web-0"}
		pod := s.Truth.Pods[key]
		for _, sb := range s.Truth.Sandboxes {
			got = append(got, fmt.Sprintf("its own %v, addresses %v, deleting %v", sb.UID == pod.UID && pod.UID != "", sb.Attachments[0].Addrs, pod.Deleting))
		}
	})
	run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "Deployment", 0, func(cfg *cluster.Config) {
		cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "Pod", Namespace: "default", Name: "web-0", Body: json.RawMessage(strings.Replace(found, `"spec":{`, `"spec":{"terminationGracePeriodSeconds":30,`, 1))})
		cfg.Script = []cluster.Entry{
			{At: time.Minute, Action: see},
			{At: 2 * time.Minute, Action: &action.Partition{Node: "a"}},
			{At: 2*time.Minute + time.Second, Action: &action.Delete{Resource: "pods", Name: "web-0"}},
			{At: 2*time.Minute + 2*time.Second, Action: see},
		}
	}, nil, nil)
	want := "its own true, addresses [10.0.0.7], deleting false; its own true, addresses [10.0.0.7], deleting true"
	if states := strings.Join(got, "; "); states != want {
		t.Errorf("%s, want %s", states, want)
	}
}
