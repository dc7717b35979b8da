package scenarios_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/canary"
)

// pooled is a manager whose configuration names an object, in which the policy is.
func pooled() *ipam.Manager {
	m := *canary.New()
	m.Network = func(key string, config json.RawMessage) (model.Network, bool, error) {
		var c struct{ IPAM struct{ Type, Pool string } }
		err := json.Unmarshal(config, &c)
		return model.Network{Key: key, Name: c.IPAM.Pool}, c.IPAM.Type == "pooled", err
	}
	m.Policy = func(n model.Network, _ json.RawMessage, objects []ipam.Object) (model.Network, error) {
		for _, o := range objects {
			if o.Kind != "ConfigMap" || o.Name != n.Name {
				continue
			}
			var c struct{ Data struct{ Range string } }
			if err := json.Unmarshal(o.Body, &c); err != nil {
				return n, err
			}
			p, err := netip.ParsePrefix(c.Data.Range)
			if err != nil {
				return n, &ipam.ObjectError{Object: o, Field: "data.range", Err: err}
			}
			n.Ranges = []model.Range{{Prefix: p, Start: p.Addr().Next(), End: model.LastAddr(p).Prev()}}
			return n, nil
		}
		return n, errors.New("ipam.pool: there is no ConfigMap of that name")
	}
	return &m
}

const pooledFile = `apiVersion: ipamsim.dev/v1alpha1
kind: Scenario
metadata: {name: pooled}
spec: {title: a policy in an object, ipam: canary, nodes: [node-1], until: 1m}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: net1}
spec:
  config: '{"type": "macvlan", "ipam": {"type": "pooled", "pool": "lab"}}'
---
apiVersion: v1
kind: ConfigMap
metadata: {name: lab}
data:
  range: 10.0.0.0/28
`

// A network's policy may be in an object that its configuration names.
func TestPolicyInObject(t *testing.T) {
	managers := scenarios.Managers{pooled()}
	s, err := managers.Parse("pooled.yaml", []byte(pooledFile))
	if err != nil {
		t.Fatal(err)
	}
	n := s.Networks[0]
	if n.Key != "default/net1" || n.Name != "lab" || len(n.Ranges) != 1 || !n.Allows(netip.MustParseAddr("10.0.0.14")) {
		t.Errorf("%+v", n.Network)
	}
	again, err := s.With(s.Doc, s.Objects)
	if err != nil || len(again.Networks) != 1 || !again.Networks[0].Allows(netip.MustParseAddr("10.0.0.14")) {
		t.Errorf("parsed again: %+v (%v)", again, err)
	}
	for _, x := range []struct{ old, new, want string }{
		{"10.0.0.0/28", "10.0.0.0/99", `pooled.yaml:16: ConfigMap default/lab: data.range: `},
		{"name: lab", "name: bench", `pooled.yaml:10: NetworkAttachmentDefinition default/net1: spec.config: ipam.pool: there is no ConfigMap of that name`},
	} {
		_, err := managers.Parse("pooled.yaml", []byte(strings.Replace(pooledFile, x.old, x.new, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), x.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", x.new, err, x.want)
		}
	}
}
