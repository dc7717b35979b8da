package metallb

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

func TestDefinitions(t *testing.T) {
	all, err := crds()
	if err != nil || len(all) != 8 {
		t.Fatalf("%d, %v", len(all), err)
	}
}

// pool and manifest are manifests; at is what a Service's status has.
func pool(name, spec string) ipam.Object {
	return object(poolKind, namespace, name, fmt.Sprintf("spec: {%s}", spec))
}

func manifest(name, meta, spec, at string) ipam.Object {
	if at != "" {
		at = fmt.Sprintf("{ip: %q}", at)
	}
	const form = "metadata: {annotations: {%s}}\nspec: {type: LoadBalancer, clusterIP: 10.96.0.1, clusterIPs: [10.96.0.1], ipFamilies: [IPv4], ports: [{port: 80, protocol: TCP}], %s}\nstatus: {loadBalancer: {ingress: [%s]}}"
	return object("Service", "default", name, fmt.Sprintf(form, meta, spec, at))
}

func object(kind, namespace, name, text string) ipam.Object {
	body, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		panic(err)
	}
	return ipam.Object{Kind: kind, Namespace: namespace, Name: name, Body: json.RawMessage(body)}
}

// What a controller that started now would say of each Service.
func TestJudge(t *testing.T) {
	two := pool("external", "addresses: [10.9.0.0/31]")
	for name, c := range map[string]struct {
		want    string
		objects []ipam.Object
	}{
		"all is well":          {"a 10.9.0.0", []ipam.Object{two, manifest("a", "", "", "10.9.0.0")}},
		"one waits":            {"a 10.9.0.0, b waits for 1", []ipam.Object{two, manifest("a", "", "", "10.9.0.0"), manifest("b", "", "", "")}},
		"none is free":         {"a 10.9.0.0, b 10.9.0.1, c", []ipam.Object{two, manifest("a", "", "", "10.9.0.0"), manifest("b", "", "", "10.9.0.1"), manifest("c", "", "", "")}},
		"it asks for one":      {"a waits for 1", []ipam.Object{two, manifest("a", "metallb.io/loadBalancerIPs: 10.9.0.0", "", "")}},
		"it asks for none's":   {"a", []ipam.Object{two, manifest("a", "metallb.io/loadBalancerIPs: 10.9.1.0", "", "")}},
		"it asks for anothers": {"a 10.9.0.0, b", []ipam.Object{two, manifest("a", "", "", "10.9.0.0"), manifest("b", "metallb.io/loadBalancerIPs: 10.9.0.0", "", "")}},
		"it asks for a pool":   {"a waits for 2", []ipam.Object{pool("external", "addresses: [10.9.0.0/31], autoAssign: false"), manifest("a", "metallb.universe.tf/address-pool: external", "", "")}},
		"it asks for other":    {"a 10.9.0.0 disallowed", []ipam.Object{two, manifest("a", "metallb.io/loadBalancerIPs: 10.9.0.1", "", "10.9.0.0")}},
		"another pool":         {"a 10.9.0.0 disallowed", []ipam.Object{two, manifest("a", "metallb.io/address-pool: more", "", "10.9.0.0")}},
		"of no namespace":      {"a 10.9.0.0 disallowed", []ipam.Object{pool("external", "addresses: [10.9.0.0/31], serviceAllocation: {namespaceSelectors: [{matchLabels: {team: a}}]}"), manifest("a", "", "", "10.9.0.0")}},
		"outside":              {"a 10.9.0.7 disallowed", []ipam.Object{two, manifest("a", "", "", "10.9.0.7")}},
		"taken":                {"a 10.9.0.0, b 10.9.0.0 disallowed", []ipam.Object{two, manifest("a", "", "", "10.9.0.0"), manifest("b", "", "", "10.9.0.0")}},
		"shared":               {"a 10.9.0.0, b 10.9.0.0", []ipam.Object{two, manifest("a", "metallb.io/allow-shared-ip: k", "", "10.9.0.0"), manifest("b", "metallb.io/allow-shared-ip: k", "ports: [{port: 81, protocol: TCP}]", "10.9.0.0")}},
		"not for everybody":    {"a", []ipam.Object{pool("external", "addresses: [10.9.0.0/31], autoAssign: false"), manifest("a", "", "", "")}},
		"pinned":               {"a waits for 2", []ipam.Object{pool("external", "addresses: [10.9.0.0/31], serviceAllocation: {namespaces: [default]}"), manifest("a", "", "", "")}},
		"of another class":     {"", []ipam.Object{two, manifest("a", "", "loadBalancerClass: other", "")}},
		"pools that overlap":   {"a 10.9.0.7", []ipam.Object{two, pool("more", "addresses: [10.9.0.0/30]"), manifest("a", "", "", "10.9.0.7")}},
	} {
		s, err := readRecord(c.objects, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, x := range s.Services.All {
			if b := x.Balancer; b != nil {
				got = append(got, said(strings.TrimPrefix(x.Name, "default/"), b))
			}
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func said(name string, b *model.Balancer) string {
	for _, a := range b.Addrs {
		name += " " + a.String()
	}
	if b.Disallowed {
		name += " disallowed"
	}
	if b.Free > 0 {
		name += fmt.Sprint(" waits for ", b.Free)
	}
	return name
}

// Two Services may have one address on terms that one of them had when it was given it; once
// it is given another one, those are over.
func TestTerms(t *testing.T) {
	r := newRecord(nil)
	take := func(name, key, port, at string) {
		t.Helper()
		if err := r.read(manifest(name, "metallb.io/allow-shared-ip: "+key, "ports: [{port: "+port+", protocol: TCP}]", at)); err != nil {
			t.Fatal(err)
		}
	}
	shares := func() bool {
		all := r.snapshot().Services.All
		return all[0].Balancer.Shares(all[1].Balancer)
	}
	take("a", "one", "80", "10.9.0.0")
	take("b", "one", "443", "10.9.0.0")
	if !shares() {
		t.Error("they agree")
	}
	take("b", "one", "80", "10.9.0.0")
	if !shares() {
		t.Error("b was given it on other terms")
	}
	take("b", "one", "80", "10.9.0.1")
	take("b", "one", "80", "10.9.0.0")
	if shares() {
		t.Error("b has been given it since")
	}
}

// Manifests that have no address here, or that upstream would not take.
func TestCheck(t *testing.T) {
	good := pool("external", "addresses: [10.9.0.0/31]")
	for want, objects := range map[string][]ipam.Object{
		"": {good},
		"Pod p: ipam metallb gives pods no addresses: leave it out":                                              {good, object("Pod", "default", "p", "{}")},
		"IPAddressPool p: MetalLB does not look there, want metallb-system":                                      {object(poolKind, "default", "p", "spec: {addresses: [10.9.0.0/31]}")},
		`IPAddressPool more: CIDR "10.9.0.0/30" in pool "more" overlaps with already defined CIDR "10.9.0.0/31"`: {good, pool("more", "addresses: [10.9.0.0/30]")},
	} {
		got := ""
		if err := check(objects); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
