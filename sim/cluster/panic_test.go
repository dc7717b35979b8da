package cluster_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/canary"
)

// broken is the canary whose ADD calls code that is ours and panics.
func broken() *ipam.Manager {
	m := canary.New()
	open := m.Open
	m.Open = func(env ipam.Env) (ipam.Instance, error) {
		i, err := open(env)
		i.Add = func(context.Context, *sim.Gate, ipam.Call) (ipam.Result, error) { panic("a defect of ours") }
		return i, err
	}
	return m
}

// A panic of our own code is an error of the run, whoever called it.
func TestOurPanicIsNobodysCrash(t *testing.T) {
	store, err := etcd.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	begun, err := store.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer begun.End()
	a := broken()
	config := json.RawMessage(`{"cniVersion":"0.3.1","name":"net","type":"macvlan","ipam":{"type":"canary","range":"10.0.0.0/28"}}`)
	network, _, err := a.Network("default/net", config)
	if err != nil {
		t.Fatal(err)
	}
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","annotations":{"k8s.v1.cni.cncf.io/networks":"net"}},
		"spec":{"nodeName":"a","containers":[{"name":"c","image":"i"}],"tolerations":[{"operator":"Exists"}]}}`
	cfg := cluster.Config{
		Manager: a, Until: time.Minute, Networks: []cluster.Network{{Network: network, Config: config}},
		Objects: []cluster.Object{
			{Kind: "Node", Name: "a", Body: cluster.NodeManifest("a", nil)},
			{Kind: "Pod", Namespace: "default", Name: "web", Body: json.RawMessage(pod)},
		},
	}
	var c *cluster.Cluster
	_, err = sim.Run(context.Background(), sim.Options{Strategy: plain{}}, func(w *sim.World) error {
		api, err := ipam.Serve(w, begun, a)
		if err != nil {
			return err
		}
		c, err = cluster.Start(w, begun, api, cfg)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "panicked: a defect of ours") || len(c.Checker.Violations()) > 0 {
		t.Errorf("ended with %v, violations %v", err, c.Checker.Violations())
	}
}
