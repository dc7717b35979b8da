package cluster_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/canary"
)

// found is a pod that runs already, with an address.
const found = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-0","namespace":"default","annotations":{"k8s.v1.cni.cncf.io/networks":"net",
	"ipamsim.dev/containerID":"c1","k8s.v1.cni.cncf.io/network-status":"[{\"name\":\"default/net\",\"interface\":\"net1\",\"ips\":[\"10.0.0.7\"]}]"}},
	"spec":{"nodeName":"a","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}}`

// Start returns the error of a manager that does not start, or that does not adopt a
// container that already runs.
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
			if _, err := runOne(t, m, "web-0", found); x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
				t.Errorf("%v, want %q", err, x.want)
			}
		})
	}
}
