package metallb_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/dump/dumptest"
	"ipamsim/scenarios/scenariotest"
)

// pools and services write documents as kubectl lists them, with a heading.
func pools(all ...string) string { return list("ipaddresspools.metallb.io", all) }

func services(all ...string) string { return list("services", all) }

func list(resource string, all []string) string {
	return fmt.Sprintf("--- # %s\napiVersion: v1\nkind: List\nitems:\n%s--- # %d %s\n", resource, strings.Join(all, ""), len(all), resource)
}

func pool(name, spec string) string {
	return fmt.Sprintf("- {apiVersion: metallb.io/v1beta1, kind: IPAddressPool, metadata: {name: %s, namespace: metallb-system, labels: {zone: %s}}, spec: {%s}}\n", name, name, spec)
}

// service has a port, addresses, and more of metadata and spec.
func service(name, port, has, meta, spec string) string {
	var ingress []string
	for _, a := range strings.Fields(has) {
		ingress = append(ingress, "{ip: '"+a+"'}")
	}
	return fmt.Sprintf("- {apiVersion: v1, kind: Service, metadata: {name: %s, namespace: d%s}, spec: {type: LoadBalancer, clusterIP: 10.96.0.9, clusterIPs: [10.96.0.9], ipFamilies: [IPv4], ports: [{port: %s}]%s}, status: {loadBalancer: {ingress: [%s]}}}\n",
		name, meta, port, spec, strings.Join(ingress, ", "))
}

func annotated(key, value string) string { return ", annotations: {" + key + ": '" + value + "'}" }

// unheaded begins a list that may be a part.
const unheaded = "apiVersion: v1\nkind: List\nitems:\n"

const advertised = "--- # l2advertisements.metallb.io\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: metallb.io/v1beta1, kind: L2Advertisement, metadata: {name: all, namespace: metallb-system}, spec: {%s}}\n" +
	"--- # 1 l2advertisements.metallb.io\n--- # bgpadvertisements.metallb.io\napiVersion: v1\nkind: List\nitems: []\n--- # 0 bgpadvertisements.metallb.io\n"

// routed are a BGPAdvertisement with a spec, no L2Advertisements, and some BGPPeers.
func routed(spec string, peers ...string) string {
	advert := "- {apiVersion: metallb.io/v1beta1, kind: BGPAdvertisement, metadata: {name: all, namespace: metallb-system}, spec: {" + spec + "}}\n"
	return strings.Replace(list("l2advertisements.metallb.io", nil), "items:\n", "items: []\n", 1) + list("bgpadvertisements.metallb.io", []string{advert}) + peered(peers...)
}

func peered(peers ...string) string {
	text := list("bgppeers.metallb.io", peers)
	if len(peers) == 0 {
		text = strings.Replace(text, "items:\n", "items: []\n", 1)
	}
	return text
}

func bgpPeer(name, spec string) string {
	return fmt.Sprintf("- {apiVersion: metallb.io/v1beta2, kind: BGPPeer, metadata: {name: %s, namespace: metallb-system}, spec: {myASN: 64512, peerASN: 64513, peerAddress: 192.0.2.1%s}}\n", name, spec)
}

func nodes(labels ...string) string {
	var all []string
	for i, l := range labels {
		all = append(all, fmt.Sprintf("- {apiVersion: v1, kind: Node, metadata: {name: w%d, labels: {%s}}}\n", i+1, l))
	}
	return list("nodes", all)
}

// onRack selects the nodes of a rack.
func onRack(rack string) string { return "nodeSelectors: [{matchLabels: {rack: " + rack + "}}]" }

// Addresses that BGP announces reach a router if a BGPPeer has a session with a node of the advertisement.
func TestPeers(t *testing.T) {
	rest := pools(pool("p", "addresses: [10.0.0.1-10.0.0.2]")) + services(service("a", "80", "10.0.0.1", "", "")) + nodes("rack: a", "rack: b")
	lost := "unserved-load-balancer announced-to-no-peer address 10.0.0.1, pool p, service d/a"
	for name, tt := range map[string]struct {
		text, want, why string
		doubt           bool // BGPPeers are lacking, or are not all there
	}{
		"a peer":                         {routed("", bgpPeer("tor", "")), "", "", false},
		"no peer":                        {routed(""), lost, "there is no BGPPeer", false},
		"a peer by name":                 {routed("peers: [tor]", bgpPeer("tor", "")), "", "", false},
		"another peer by name":           {routed("peers: [spine]", bgpPeer("tor", "")), lost, "do not exist", false},
		"a peer of the advertised nodes": {routed(onRack("a"), bgpPeer("tor", ", "+onRack("a"))), "", "", false},
		"a peer of other nodes":          {routed(onRack("a"), bgpPeer("tor", ", "+onRack("b"))), lost, "no node is selected by one of them and by a BGPPeer", false},
		"a peer of no node":              {routed("", bgpPeer("tor", ", "+onRack("c"))), lost, "no node is selected by one of them and by a BGPPeer", false},
		"one of two peers":               {routed(onRack("a"), bgpPeer("tor-b", ", "+onRack("b")), bgpPeer("tor-a", ", "+onRack("a"))), "", "", false},
		"the kind is missing":            {strings.Replace(routed(""), peered(), "", 1), "", "", true},
		"a part of the peers": {
			strings.Replace(routed("peers: [spine]", bgpPeer("tor", "")), peered(bgpPeer("tor", "")), "---\n"+unheaded+bgpPeer("tor", "")+"---\n", 1), "perhaps " + lost, "do not exist", true,
		},
		"layer 2 announces as well": {strings.Replace(routed(""), "items: []", "items:\n- {apiVersion: metallb.io/v1beta1, kind: L2Advertisement, metadata: {name: l2, namespace: metallb-system}}", 1), "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := found(t, tt.text+rest)
			if got := strings.Join(named(f), "\n"); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			for _, x := range slices.Concat(f.All, f.Supposed) {
				if x.Code == "announced-to-no-peer" && !strings.Contains(x.Message, tt.why) {
					t.Errorf("%s: no %q", x.Message, tt.why)
				}
			}
			doubt := slices.ContainsFunc(f.Unjudged, func(u scenarios.Unjudged) bool { return slices.Contains(u.Without, "bgppeers.metallb.io") })
			if doubt != tt.doubt {
				t.Errorf("cannot judge without BGPPeers: %t, want %t: %v", doubt, tt.doubt, f.Unjudged)
			}
		})
	}
}

// controller is MetalLB's, with an argument.
func controller(arg string) string {
	return "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: controller-7b8d\n  namespace: metallb-system\n  labels: {app: metallb, component: controller}\nspec:\n  containers:\n  - args: [" + arg + "]\n    name: controller\n  nodeName: n1\nstatus: {phase: Running}\n"
}

// findings are what import finds in a dump, of MetalLB.
func findings(t *testing.T, text string) []string {
	t.Helper()
	return named(found(t, text))
}

// found is everything that import finds in a dump.
func found(t *testing.T, text string) *diagnosis.Findings {
	t.Helper()
	c := dump.New(managers.All())
	if err := c.Read("F", strings.NewReader(text), nil); err != nil {
		t.Fatal(err)
	}
	scenario, report, err := c.Scenario(dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := managers.All().Parse("S", scenario)
	if err != nil {
		t.Fatal(err)
	}
	r := scenariotest.Runner(t)
	v, err := r.Inspect(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	apart, err := diagnosis.Apart(context.Background(), r, report)
	if err != nil {
		t.Fatal(err)
	}
	return diagnosis.Of(c, v, true, apart...)
}

// named are the findings about MetalLB: invariant, code and objects, then those that are only
// supposed.
func named(f *diagnosis.Findings) (out []string) {
	for kind, all := range map[string][]diagnosis.Finding{"": f.All, "perhaps ": f.Supposed} {
		for _, x := range all {
			if strings.Contains(x.Invariant, "load-balancer") || x.Invariant == "exhausted" || x.Invariant == "config-status" || x.Invariant == "pool-status" {
				var objects []string
				for _, o := range x.Objects {
					objects = append(objects, o.String())
				}
				out = append(out, strings.Join(strings.Fields(kind+x.Invariant+" "+x.Code+" "+strings.Join(objects, ", ")), " "))
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestFindings(t *testing.T) {
	two := pools(pool("p", "addresses: [10.0.0.1-10.0.0.2]"))
	announced := fmt.Sprintf(advertised, "")
	shares := annotated("metallb.universe.tf/allow-shared-ip", "k")
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"healthy": {two + announced + services(service("a", "80", "10.0.0.1", "", ""), service("b", "80", "10.0.0.2", "", "")), nil},
		"shared":  {two + announced + services(service("a", "80", "10.0.0.1", shares, ""), service("b", "81", "10.0.0.1", annotated("metallb.io/allow-shared-ip", "k"), "")), nil},
		"shared without a key, on two ports": {
			two + announced + services(service("a", "80", "10.0.0.1", "", ""), service("b", "81", "10.0.0.1", "", "")),
			[]string{"duplicate-load-balancer-ip address 10.0.0.1, service d/a, service d/b"},
		},
		"shared on one port": {
			two + announced + services(service("a", "80", "10.0.0.1", shares, ""), service("b", "80", "10.0.0.1", shares, "")),
			[]string{"duplicate-load-balancer-ip address 10.0.0.1, service d/a, service d/b"},
		},
		"shared by two traffic policies": {
			two + announced + services(service("a", "80", "10.0.0.1", shares, ", externalTrafficPolicy: Local, selector: {app: a}"), service("b", "81", "10.0.0.1", shares, "")),
			[]string{"duplicate-load-balancer-ip address 10.0.0.1, service d/a, service d/b"},
		},
		"shared by one backend": {
			two + announced + services(service("a", "80", "10.0.0.1", shares, ", externalTrafficPolicy: Local, selector: {app: a}"), service("b", "81", "10.0.0.1", shares, ", externalTrafficPolicy: Local, selector: {app: a}")), nil,
		},
		"of no pool": {
			two + announced + services(service("a", "80", "10.0.0.3", "", "")),
			[]string{"disallowed-load-balancer-ip address 10.0.0.3, service d/a"},
		},
		"of no pool of a part": {
			unheaded + pool("p", "addresses: [10.0.0.1-10.0.0.2]") + services(service("a", "80", "10.0.0.3", "", "")),
			[]string{"perhaps disallowed-load-balancer-ip address 10.0.0.3, service d/a"},
		},
		"of no pool of its namespace": {
			"$ kubectl get ipaddresspools -n metallb-system -o yaml\n" + unheaded + pool("p", "addresses: [10.0.0.1-10.0.0.2]") + announced + services(service("a", "80", "10.0.0.3", "", "")),
			[]string{"disallowed-load-balancer-ip address 10.0.0.3, service d/a"},
		},
		"of a cloud": {two + announced + services(service("a", "80", "10.0.0.3", ", finalizers: [service.kubernetes.io/load-balancer-cleanup]", "")), nil},
		"of the controller's class": {
			two + announced + controller("--lb-class=example.org/x") + services(service("a", "80", "10.0.0.3", "", ", loadBalancerClass: example.org/x"), service("b", "80", "", "", "")),
			[]string{"disallowed-load-balancer-ip address 10.0.0.3, service d/a"},
		},
		"of a class": {two + announced + services(service("a", "80", "10.0.0.3", "", ", loadBalancerClass: example.org/x")), nil},
		"full": {
			two + announced + services(service("a", "80", "10.0.0.1", "", ""), service("b", "80", "10.0.0.2", "", ""), service("c", "80", "", "", ""), service("e", "80", "", "", "")),
			[]string{"exhausted service-waits-for-full-pool pool p, service d/c, service d/e"},
		},
		"full, or there is another pool": {
			unheaded + pool("p", "addresses: [10.0.0.1/32]") + services(service("a", "80", "10.0.0.1", "", ""), service("c", "80", "", "", "")),
			[]string{"perhaps exhausted service-waits-for-full-pool pool p, service d/c"},
		},
		"asks for what another has": {
			two + announced + services(service("a", "80", "10.0.0.1", "", ""), service("b", "80", "", "", ", loadBalancerIP: 10.0.0.1")),
			[]string{"unserved-load-balancer service-waits-for-taken-address address 10.0.0.1, service d/b"},
		},
		"asks for an address of no pool": {
			two + announced + services(service("a", "80", "10.0.0.1", "", ""), service("b", "80", "", annotated("metallb.universe.tf/loadBalancerIPs", "10.0.0.7"), "")),
			[]string{"unserved-load-balancer service-waits-for-address-of-no-pool service d/b"},
		},
		"asks twice": {
			two + announced + services(service("a", "80", "10.0.0.1", "", ""), service("b", "80", "", annotated("metallb.io/loadBalancerIPs", "10.0.0.2"), ", loadBalancerIP: 10.0.0.2")),
			[]string{"unserved-load-balancer service-waits-unreadable-request service d/b"},
		},
		"asks for a pool that is not there": {
			two + announced + services(service("a", "80", "10.0.0.1", "", ""), service("b", "80", "", annotated("metallb.io/address-pool", "q"), "")),
			[]string{"unserved-load-balancer service-waits-for-unknown-pool service d/b"},
		},
		"pool of others": {
			pools(pool("p", "addresses: [10.0.0.1-10.0.0.2], serviceAllocation: {namespaces: [other]}")) + announced + services(service("b", "80", "", "", "")),
			[]string{"unserved-load-balancer service-waits-without-pool service d/b"},
		},
		"an address is free": {
			two + announced + services(service("b", "80", "", "", "")),
			[]string{"unserved-load-balancer no-address service d/b"},
		},
		"overlap": {
			pools(pool("p", "addresses: [10.0.0.0/30]"), pool("q", "addresses: [10.0.0.2-10.0.0.9]")) + announced + services(service("a", "80", "10.0.0.7", "", ""), service("b", "80", "10.0.0.1", "", "")),
			[]string{"unserved-load-balancer pools-overlap pool p, pool q"},
		},
		"nothing announces": {
			pools(pool("p", "addresses: [10.0.0.1-10.0.0.2]")) + fmt.Sprintf(advertised, "ipAddressPools: [other]") + services(service("a", "80", "10.0.0.1", "", "")),
			[]string{"unserved-load-balancer not-announced address 10.0.0.1, pool p, service d/a"},
		},
		"announced by a selector":      {two + fmt.Sprintf(advertised, "ipAddressPoolSelectors: [{matchLabels: {zone: p}}]") + services(service("a", "80", "10.0.0.1", "", "")), nil},
		"no selector takes it":         {two + fmt.Sprintf(advertised, "ipAddressPoolSelectors: [{matchLabels: {zone: x}}]") + services(service("a", "80", "10.0.0.1", "", "")), []string{"unserved-load-balancer not-announced address 10.0.0.1, pool p, service d/a"}},
		"perhaps on a node":            {two + fmt.Sprintf(advertised, "nodeSelectors: [{matchLabels: {rack: x}}]") + services(service("a", "80", "10.0.0.1", "", "")), nil},
		"advertisements not in a dump": {two + services(service("a", "80", "10.0.0.1", "", "")), nil},
		"a speaker announces": {
			two + fmt.Sprintf(advertised, "ipAddressPools: [other]") + "--- # servicel2statuses.metallb.io\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: metallb.io/v1beta1, kind: ServiceL2Status, metadata: {name: l2-x, namespace: metallb-system}, status: {node: w1, serviceName: a, serviceNamespace: d}}\n" +
				services(service("a", "80", "10.0.0.1", "", "")), nil,
		},
		"two families": {
			pools(pool("p", "addresses: [10.0.0.1/32, 'fd00::1/128']")) + announced + services(service("a", "80", "10.0.0.1", "", ""), service("b", "80", "", annotated("metallb.io/loadBalancerIPs", "fd00::1"), "")),
			[]string{"unserved-load-balancer service-waits-for-another-family service d/b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, findings(t, tt.text)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

const oldConfig = `apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: metallb-system}
data:
  config: |
    address-pools:
    - {name: Default_Pool, protocol: layer2, addresses: [10.0.0.1/32], avoid-buggy-ips: true}
    - {name: spare, protocol: bgp, addresses: [10.0.1.0/30], auto-assign: false}
---
`

// MetalLB before 0.13 has its pools in a ConfigMap: the dump needs no advertisements, and names
// that are none for objects are used as they are.
func TestConfigMap(t *testing.T) {
	got := findings(t, oldConfig+services(service("a", "80", "10.0.0.1", "", ""), service("b", "80", "", "", ""), service("c", "80", "10.0.9.9", "", "")))
	want := []string{"disallowed-load-balancer-ip address 10.0.9.9, service d/c", "exhausted service-waits-for-full-pool pool pool-1.config, service d/b"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Who assigns the addresses is not known, unless a cloud does, which the objects say.
func TestDoubts(t *testing.T) {
	for meta, want := range map[string]bool{"": true, ", finalizers: [service.kubernetes.io/load-balancer-cleanup]": false} {
		c := dump.New(managers.All())
		if err := c.Read("F", strings.NewReader(services(service("a", "80", "10.0.0.1", meta, ""))), nil); err != nil {
			t.Fatal(err)
		}
		_, report, err := c.Scenario(dump.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Contains(fmt.Sprint(report.Unjudged), "ipaddresspools.metallb.io")
		if got != want {
			t.Errorf("%q: %v, want %v: %v", meta, got, want, report.Unjudged)
		}
	}
}

// Names and addresses do not get into what strangers see.
func TestAnonymised(t *testing.T) {
	text := pools(pool("secret", "addresses: [203.0.113.1-203.0.113.9], serviceAllocation: {namespaces: [secret]}")) +
		services(service("secret-a", "80", "203.0.113.1", annotated("metallb.io/allow-shared-ip", "secret"), ", selector: {app: secret}"), service("b", "80", "", annotated("metallb.io/loadBalancerIPs", "203.0.113.2"), ""))
	if err := dumptest.Check(managers.All(), []byte(text)); err != nil {
		t.Fatal(err)
	}
	c := dump.New(managers.All())
	if err := c.Read("F", strings.NewReader(text), nil); err != nil {
		t.Fatal(err)
	}
	out, _, err := c.Scenario(dump.Options{Anonymise: true, Addresses: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"secret", "203.0.113."} {
		if strings.Contains(string(out), secret) {
			t.Errorf("%s is there:\n%s", secret, out)
		}
	}
}

// What is hostile is refused in one line, or makes a scenario.
func TestHostile(t *testing.T) {
	for _, spec := range []string{"addresses: []", "addresses: [x]", "addresses: [10.0.0.9-10.0.0.1]", "addresses: ['0.0.0.0/0', '::/0']", "addresses: [10.0.0.0/8, 10.0.0.0/9]", "addresses: [10.0.0.1/32], serviceAllocation: {serviceSelectors: [{matchExpressions: [{key: a, operator: Nonsense}]}]}"} {
		text := pools(pool("p", spec)) + services(service("a", "80", "10.0.0.1", "", ""), service("b", "80", "::", "", ", loadBalancerIP: x"))
		if err := dumptest.Check(managers.All(), []byte(text)); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
