package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/canary"
)

// story runs a cluster of two nodes with a correct canary in the plain order and returns
// its events, one per line.
func story(t *testing.T, kind string, replicas int, script ...cluster.Entry) []string {
	t.Helper()
	return eventLines(run(t, `{"type":"canary","range":"10.0.0.0/28"}`, kind, replicas, func(cfg *cluster.Config) { cfg.Script = script }, nil, nil))
}

// eventLines are the events of a run, one per line.
func eventLines(c *cluster.Cluster) (out []string) {
	for _, e := range c.Checker.History().Events {
		if e.Kind == model.AddBegin || e.Kind == model.DelBegin {
			continue
		}
		what := strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Pod.Name, e.Kind, e.Node, e.Text))
		if e.Kind == model.NodeEvent || e.Kind == model.Operator {
			what = strings.TrimSpace(e.Node + " " + e.Text)
		}
		for _, addr := range e.Addrs {
			what += " " + addr.String()
		}
		if e.Err != "" {
			what += ": " + e.Err
		}
		out = append(out, fmt.Sprintf("%v %s", e.At.Truncate(time.Second), what))
	}
	return out
}

// only returns the lines that contain one of some words.
func only(lines []string, words ...string) (out []string) {
	for _, line := range lines {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) }) {
			out = append(out, line)
		}
	}
	return out
}

// run runs a cluster of two nodes with the canary in the plain order; more changes the
// configuration. started and ended, unless nil, are called before the first step and after
// the last.
func run(t *testing.T, section, kind string, replicas int, more func(*cluster.Config), started func(*cluster.Cluster), ended func()) *cluster.Cluster {
	t.Helper()
	c, err := start(t, canary.New(), section, func(cfg *cluster.Config) {
		cfg.Until = 20 * time.Minute
		for _, name := range []string{"a", "b"} {
			cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "Node", Name: name, Body: kubeapi.NodeManifest(name, nil)})
		}
		body := fmt.Sprintf(`{"apiVersion":"apps/v1","kind":%q,"metadata":{"name":"web"},"spec":{"replicas":%d,"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"web"},"annotations":{"k8s.v1.cni.cncf.io/networks":"net"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`, kind, replicas)
		cfg.Objects = append(cfg.Objects, cluster.Object{Kind: kind, Namespace: "default", Name: "web", Body: json.RawMessage(body)})
		more(cfg)
	}, func(w *sim.World, c *cluster.Cluster) {
		if started != nil {
			started(c)
		}
		if end := w.Hooks.End; ended != nil {
			w.Hooks.End = func() { end(); ended() }
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// runOne is a run of one node for a minute, with one pod.
func runOne(t *testing.T, m *ipam.Manager, name, pod string) (*cluster.Cluster, error) {
	t.Helper()
	return start(t, m, `{"type":"canary","range":"10.0.0.0/28"}`, func(cfg *cluster.Config) {
		cfg.Until = time.Minute
		cfg.Objects = []cluster.Object{
			{Kind: "Node", Name: "a", Body: kubeapi.NodeManifest("a", nil)},
			{Kind: "Pod", Namespace: "default", Name: name, Body: json.RawMessage(pod)},
		}
	}, func(*sim.World, *cluster.Cluster) {})
}

// start runs a cluster on a manager with one network, in the plain order, and returns it with the
// error of the run; more completes the configuration, and started is called before the first step.
func start(t *testing.T, m *ipam.Manager, section string, more func(*cluster.Config), started func(*sim.World, *cluster.Cluster)) (c *cluster.Cluster, err error) {
	t.Helper()
	begun, err := store.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer begun.End()
	config := json.RawMessage(`{"cniVersion":"0.3.1","name":"net","type":"macvlan","ipam":` + section + `}`)
	network, _, err := m.Network("default/net", config)
	if err != nil {
		t.Fatal(err)
	}
	cfg := cluster.Config{Manager: m, Networks: []cluster.Network{{Network: network, Config: config}}}
	more(&cfg)
	_, err = sim.Run(context.Background(), sim.Options{Strategy: plain{}}, func(w *sim.World) error {
		api, err := ipam.Serve(w, begun, m)
		if err != nil {
			return err
		}
		if c, err = cluster.Start(w, begun, api, cfg); err == nil {
			started(w, c)
		}
		return err
	})
	return c, err
}

// plain delivers the first message there is.
type plain struct{}

func (plain) String() string    { return "plain" }
func (plain) Begin(uint64) bool { return true }
func (plain) Pick(_ int, enabled []sim.Choice) int {
	for i, c := range enabled {
		if c.Outcome == sim.Proceed {
			return i
		}
	}
	return len(enabled) - 1
}

// A StatefulSet creates its pods one after another. A deleted pod is gone, including its DEL,
// before the next pod of its name is created.
func TestStatefulSetPod(t *testing.T) {
	got := story(t, "StatefulSet", 2, cluster.Entry{At: time.Minute, Action: &action.Delete{Resource: "pods", Name: "web-0"}})
	want := []string{
		"0s a up", "0s b up",
		"0s web-0 sandbox-up a", "0s web-0 add-end a 10.0.0.1",
		"0s web-1 sandbox-up b", "0s web-1 add-end b 10.0.0.2",
		"1m0s kubectl delete pods web-0",
		"1m0s web-0 sandbox-down a containers stopped", "1m0s web-0 del-end a",
		"1m0s web-0 sandbox-up a", "1m0s web-0 add-end a 10.0.0.1",
		"1m13s web-0 sandbox-removed a",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A power loss ends the sandboxes. After the reboot those on the disk get their DEL, and then the
// pod gets a new sandbox.
func TestReboot(t *testing.T) {
	got := story(t, "StatefulSet", 1, cluster.Entry{At: time.Minute, Action: &action.Reboot{Node: "a"}})
	want := []string{
		"0s a up", "0s b up",
		"0s web-0 sandbox-up a", "0s web-0 add-end a 10.0.0.1",
		"1m0s reboot of node a",
		"1m0s web-0 sandbox-down a power lost", "1m0s a lost power",
		"1m30s a up",
		"1m30s web-0 del-end a",
		"1m30s web-0 sandbox-up a", "1m30s web-0 add-end a 10.0.0.1",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A partitioned node keeps its containers. After the grace period and the
// toleration its pod is deleted; a Deployment starts the successor immediately, and
// the old sandbox is removed when its node receives the deletion.
func TestPartition(t *testing.T) {
	p := &action.Partition{Node: "a"}
	p.For.Duration = 10 * time.Minute
	var got []string
	for _, line := range story(t, "Deployment", 1, cluster.Entry{At: time.Minute, Action: p}) {
		f := strings.Fields(line)
		if strings.HasPrefix(f[1], "web-") {
			f[1] = "web"
		}
		got = append(got, strings.Join(f, " "))
	}
	want := []string{
		"0s a up", "0s b up",
		"0s web sandbox-up a", "0s web add-end a 10.0.0.1",
		"1m0s network partition of node a", "1m0s a partitioned",
		"6m50s web sandbox-up b", "6m50s web add-end b 10.0.0.2",
		"11m0s a reachable again",
		"11m0s web sandbox-down a containers stopped", "11m0s web del-end a", "11m13s web sandbox-removed a",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A machine that is thrown away and one that is given its power back at the same
// time are one machine in the end: the new one.
func TestReplaceMeetsPowerOn(t *testing.T) {
	got := story(t, "DaemonSet", 0,
		cluster.Entry{At: 5 * time.Minute, Action: &action.ReplaceNode{Node: "a"}},
		cluster.Entry{At: 5 * time.Minute, Action: &action.PowerOn{Node: "a"}},
		cluster.Entry{At: 5 * time.Minute, Action: &action.ReplaceNode{Node: "a"}},
	)
	last := ""
	for _, line := range got {
		if strings.Contains(line, " a up") || strings.Contains(line, " a lost power") {
			last = line
		}
	}
	if !strings.HasSuffix(last, "a up") {
		t.Errorf("node a is not up in the end: %q of\n%s", last, strings.Join(got, "\n"))
	}
}
