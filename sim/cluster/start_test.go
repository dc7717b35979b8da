package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/etcd"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/canary"
)

// found is a pod that runs already, with an address.
const found = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-0","namespace":"default","annotations":{"k8s.v1.cni.cncf.io/networks":"net",
	"ipamsim.dev/containerID":"c1","k8s.v1.cni.cncf.io/network-status":"[{\"name\":\"default/net\",\"interface\":\"net1\",\"ips\":[\"10.0.0.7\"]}]"}},
	"spec":{"nodeName":"a","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}}`

// A cluster that cannot be built is no cluster: what a manager says at its start, or when
// it is told of a container that was found running, is what Start says.
func TestStartFails(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(*ipam.Instance) error
		want   string
	}{
		{"all is well", func(*ipam.Instance) error { return nil }, ""},
		{"the manager does not open", func(*ipam.Instance) error { return errors.New("no datastore") }, "no datastore"},
		{"it cannot adopt", func(i *ipam.Instance) error {
			i.Adopt = func(_ context.Context, _ ipam.Call, addrs []netip.Addr) error {
				return errors.New("no room for " + addrs[0].String())
			}
			return nil
		}, "no room for 10.0.0.7"},
	} {
		t.Run(x.name, func(t *testing.T) {
			m := canary.New()
			open := m.Open
			m.Open = func(env ipam.Env) (ipam.Instance, error) {
				i, err := open(env)
				return i, errors.Join(err, x.change(&i))
			}
			if err := starting(t, m); x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
				t.Errorf("%v, want %q", err, x.want)
			}
		})
	}
}

// starting is what Start says of a cluster of one node on which a pod was found.
func starting(t *testing.T, m *ipam.Manager) error {
	t.Helper()
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
	config := json.RawMessage(`{"cniVersion":"0.3.1","name":"net","type":"macvlan","ipam":{"type":"canary","range":"10.0.0.0/28"}}`)
	network, _, err := m.Network("default/net", config)
	if err != nil {
		t.Fatal(err)
	}
	cfg := cluster.Config{
		Manager: m, Until: time.Minute, Networks: []cluster.Network{{Network: network, Config: config}},
		Objects: []cluster.Object{
			{Kind: "Node", Name: "a", Body: cluster.NodeManifest("a", nil)},
			{Kind: "Pod", Namespace: "default", Name: "web-0", Body: json.RawMessage(found)},
		},
	}
	_, err = sim.Run(context.Background(), sim.Options{Strategy: plain{}}, func(w *sim.World) error {
		api, err := ipam.Serve(w, begun, m)
		if err != nil {
			return err
		}
		_, err = cluster.Start(w, begun, api, cfg)
		return err
	})
	return err
}
