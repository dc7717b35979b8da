package dump_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/reports/imported"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/scenariotest"
)

const twoServices = `apiVersion: v1
kind: List
items:
- {apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: kubernetes}, spec: {cidrs: [10.96.0.0/28]}}
- {apiVersion: v1, kind: Service, metadata: {name: kubernetes, namespace: default}, spec: {clusterIP: 10.96.0.1, clusterIPs: [10.96.0.1], ipFamilies: [IPv4], ports: [{port: 443}]}}
- {apiVersion: v1, kind: Service, metadata: {name: secret-name, namespace: secret-space}, spec: {clusterIP: 10.96.0.2, clusterIPs: [10.96.0.2], ipFamilies: [IPv4], ports: [{port: 80}]}}
`

// Before 1.33 there need not be any IPAddress: then it cannot be judged whether an address is
// guarded, whether or not the API server was asked for them.
func TestServicesWithoutIPAddresses(t *testing.T) {
	for name, more := range map[string]string{"not asked for": "", "there are none": `{"apiVersion": "networking.k8s.io/v1", "kind": "IPAddressList", "items": []}`} {
		c := dump.New(managers.All())
		for _, text := range []string{twoServices, more} {
			if text == "" {
				continue
			}
			if err := c.Read("F", strings.NewReader(text), nil); err != nil {
				t.Fatal(err)
			}
		}
		_, s, _ := scenario(t, c, dump.Options{})
		v := inspect(t, s)
		f := diagnosis.Of(c, v, true)
		unjudged := slices.ContainsFunc(f.Unjudged, func(u scenarios.Unjudged) bool { return slices.Contains(u.What, "unbacked-service") })
		if len(f.All)+len(f.Supposed) > 0 || !unjudged || f.Verdict(model.Minor) != imported.Undecided {
			t.Errorf("%s: %v, perhaps %v, cannot judge %v", name, f.All, f.Supposed, f.Unjudged)
		}
	}
}

// Names of Services and of namespaces do not get into what strangers see.
func TestAnonymisedServices(t *testing.T) {
	c := dump.New(managers.All())
	if err := c.Read("F", strings.NewReader(twoServices), nil); err != nil {
		t.Fatal(err)
	}
	text, s, report := scenario(t, c, dump.Options{Anonymise: true, Addresses: true})
	if _, err := diagnosis.Apart(context.Background(), scenariotest.Runner(t), report); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"secret", "10.96."} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is there:\n%s", secret, text)
		}
	}
	if v := inspect(t, s); len(v.Record.Services.All) != 2 {
		t.Errorf("%d Services, want 2", len(v.Record.Services.All))
	}
}
