package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
)

// A pod with an annotation that Multus cannot parse does not start without its networks: its ADD
// fails, and the kubelet retries with a new sandbox.
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
		got := strings.Join(eventLines(run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "Deployment", 0, func(cfg *cluster.Config) {
			cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "Pod", Namespace: "default", Name: "web", Body: json.RawMessage(body)})
		}, nil, nil)), "\n")
		if n := strings.Count(got, "sandbox-up"); n == 0 || n > 1 != c.again {
			t.Errorf("%q: %d sandboxes:\n%.500s", c.networks, n, got)
		}
	}
}

// Networks are called in their order, and in reverse when the pod goes; its status lists
// them as it asked for them.
//
// Source: Multus, pkg/multus, CmdAdd, delPlugins and getIfname (v4.2.3).
func TestMultusOrder(t *testing.T) {
	body := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","annotations":{"k8s.v1.cni.cncf.io/networks":"net,net@data0,net"}},
		"spec":{"nodeName":"a","restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`
	status := ""
	c := run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "Deployment", 0, func(cfg *cluster.Config) {
		cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "Pod", Namespace: "default", Name: "web", Body: json.RawMessage(body)})
		cfg.Script = []cluster.Entry{{At: time.Minute, Action: &action.Delete{Resource: "pods", Name: "web"}}}
	}, func(c *cluster.Cluster) {
		c.World.Spawn(sim.Process{ID: "reader", Run: func(ctx context.Context, _ *sim.Gate) error {
			if kubeapi.Sleep(ctx, 30*time.Second) {
				status = c.Cache.Pod(model.PodRef{Namespace: "default", Name: "web"}).Annotations["k8s.v1.cni.cncf.io/network-status"]
			}
			return ctx.Err()
		}})
	}, nil)
	var calls []string
	for _, e := range c.Checker.History().Events {
		if e.Kind == model.AddEnd || e.Kind == model.DelEnd {
			calls = append(calls, fmt.Sprintf("%s %s", e.Kind, e.Interface))
		}
	}
	want := []string{"add-end net1", "add-end data0", "add-end net3", "del-end net3", "del-end data0", "del-end net1"}
	if d := cmp.Diff(want, calls); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	var got []struct{ Name, Interface string }
	if err := json.Unmarshal([]byte(status), &got); err != nil || fmt.Sprint(got) != "[{default/net net1} {default/net data0} {default/net net3}]" {
		t.Errorf("status %s: %v", status, err)
	}
}

// A network that fails ends the ADD: no further network is called, and Multus undoes those
// that were called, the failed one first. Then the runtime has all of them undone. The next
// sandbox starts from the beginning.
//
// Source: Multus, pkg/multus, CmdAdd, CmdDel and delPlugins (v4.2.3).
func TestMultusFails(t *testing.T) {
	body := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","annotations":{"k8s.v1.cni.cncf.io/networks":"net,net,net"}},
		"spec":{"nodeName":"a","restartPolicy":"Never","containers":[{"name":"c","image":"i"}],"tolerations":[{"operator":"Exists"}]}}`
	c := run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "Deployment", 0, func(cfg *cluster.Config) {
		cfg.Manager = failsOnce(cfg.Manager, "net2")
		cfg.Objects = append(cfg.Objects, cluster.Object{Kind: "Pod", Namespace: "default", Name: "web", Body: json.RawMessage(body)})
	}, nil, nil)
	var calls []string
	for _, e := range c.Checker.History().Events {
		if e.Kind == model.AddEnd || e.Kind == model.DelEnd {
			calls = append(calls, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Kind, e.Interface, e.Err)))
		}
	}
	want := []string{"add-end net1", "add-end net2 no link", "del-end net2", "del-end net1", "del-end net3", "del-end net2", "del-end net1", "add-end net1", "add-end net2", "add-end net3"}
	if d := cmp.Diff(want, calls); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// After a first DEL, even one that failed, Multus reads the networks of a sandbox from the
// pod object only. If the pod is gone, another pod has its name, or the API server does not
// answer, Multus calls no plugin and reports success: the address stays claimed.
//
// Source: Multus, pkg/multus, CmdDel and GetPod (v4.2.3).
func TestMultusForgets(t *testing.T) {
	at := func(d time.Duration, a cluster.Action) cluster.Entry { return cluster.Entry{At: d, Action: a} }
	part := &action.Partition{Node: "a"}
	part.For.Duration = time.Minute
	remove := &action.Delete{Resource: "pods", Name: "web-0"}
	force := &action.Delete{Resource: "pods", Name: "web-0", Force: true}
	fails, works := "1m0s web-0 del-end a: nobody answers", "1m10s web-0 del-end a"
	for _, tt := range []struct {
		name   string
		script []cluster.Entry
		want   []string
	}{
		{"the pod is there", []cluster.Entry{at(time.Minute, remove)}, []string{fails, works}},
		{"it was deleted by force, and has a successor", []cluster.Entry{at(time.Minute, force)}, []string{fails}},
		{"the API server cannot be reached", []cluster.Entry{at(time.Minute, remove), at(61*time.Second, part)}, []string{fails}},
	} {
		got := inOutage(t, outage{del: span{time.Minute, 62 * time.Second}}, tt.script...)
		if d := cmp.Diff(tt.want, only(got, "del-end")); d != "" {
			t.Errorf("%s: -want +got:\n%s", tt.name, d)
		}
	}
}

// failsOnce is a manager whose first ADD for an interface fails after it has claimed an address.
func failsOnce(m *ipam.Manager, iface string) *ipam.Manager {
	out := *m
	out.Open = func(e ipam.Env) (ipam.Instance, error) {
		i, err := m.Open(e)
		add, failed := i.Add, false
		i.Add = func(ctx context.Context, g *sim.Gate, c ipam.Call) (ipam.Result, error) {
			res, err := add(ctx, g, c)
			if c.Interface == iface && !failed {
				failed, err = true, errors.Join(err, errors.New("no link"))
			}
			return res, err
		}
		return i, err
	}
	return &out
}
