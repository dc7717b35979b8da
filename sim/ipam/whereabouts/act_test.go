package whereabouts

import (
	"fmt"
	"strings"
	"testing"

	"ipamsim/reports/prose"
	"ipamsim/sim/kube"
)

const storedPool = `{"metadata":{"name":"10.128.40.0-24","resourceVersion":"18"},"spec":{"range":"10.128.40.0/24","allocations":{"47":{"id":"be47","podref":"default/web-2"},"45":{"id":"0b40","podref":"default/web-0"},"46":{"id":"b565","podref":"other/web-1"},"x":{},"99999999999":{"podref":"a/b"}}}}`

func many(n int) string {
	var s []string
	for i := range n {
		s = append(s, fmt.Sprintf(`"%d":{"podref":"default/p-%d"}`, i, i))
	}
	return `{"metadata":{"name":"p","resourceVersion":"9"},"spec":{"range":"fd00::/64","allocations":{` + strings.Join(s, ",") + `}}}`
}

func TestAct(t *testing.T) {
	const testRV = `[{"op":"test","path":"/metadata/resourceVersion","value":"17"},`
	for _, c := range []struct {
		verb, resource, name string
		status               int
		request, response    string
		want                 string
	}{
		{"patch", "ippools", "10.128.40.0-24", 200, testRV + `{"op":"test","path":"/spec/allocations/47"},{"op":"add","path":"/spec/allocations/47","value":{"id":"be47","podref":"default/web-2","ifname":"net1"}}]`, storedPool,
			"writes 10.128.40.47 for default/web-2, if still at revision 17"},
		{"patch", "ippools", "10.128.40.0-24", 422, testRV + `{"op":"remove","path":"/spec/allocations/47"},{"op":"remove","path":"/spec/allocations/45"}]`, `{"kind":"Status","status":"Failure"}`,
			"removes 10.128.40.45, 10.128.40.47, if still at revision 17: refused, the pool has changed"},
		{"patch", "ippools", "blue-node-1-10.0.0.64-26", 500, testRV + `{"op":"replace","path":"/spec/allocations/1/id","value":"new"}]`, "",
			"passes to another container 10.0.0.65, if still at revision 17"},
		{"patch", "ippools", "blue-fd00-1---64", 0, testRV + `{"op":"add","path":"/spec/allocations/16","value":{"podref":"a/b"}}]`, "",
			"writes fd00:1::10 for a/b, if still at revision 17"},
		{"patch", "ippools", "nonsense", 200, `[{"op":"remove","path":"/spec/allocations/1"}]`, "{}", "removes entry 1"},
		{"patch", "ippools", "x", 200, `not json`, "", ""},
		{"patch", "ippools", "x", 200, `[]`, "", ""},
		{"get", "ippools", "10.128.40.0-24", 200, "", storedPool, "reads pool 10.128.40.0-24 at revision 18: .45 web-0, .46 other/web-1, .47 web-2"},
		{"get", "ippools", "p", 200, "", many(9), "reads pool p at revision 9: fd00:: p-0, fd00::1 p-1, fd00::2 p-2, fd00::3 p-3, fd00::4 p-4, … 9 in all"},
		{"get", "ippools", "p", 200, "", many(0), "reads pool p at revision 9: empty"},
		{"get", "ippools", "p", 404, "", `{"status":"Failure"}`, "requests pool p"},
		{"list", "ippools", "", 200, "", `{"metadata":{"resourceVersion":"20"},"items":[` + storedPool + `]}`, "reads pool 10.128.40.0-24 at revision 18: .45 web-0, .46 other/web-1, .47 web-2"},
		{"list", "ippools", "", 200, "", `{"items":[` + storedPool + `,` + many(2) + `]}`, "reads 2 pools: 10.128.40.0-24 at revision 18 holding 5, p at revision 9 holding 2"},
		{"list", "ippools", "", 200, "", `{"items":[]}`, "reads the pools: none"},
		{"list", "ippools", "", 0, "", ``, ""},
		{"list", "ippools", "", 500, "", ``, "requests the pools"},
		{"create", "ippools", "10.128.40.0-24", 201, "{}", "{}", "creates the empty pool 10.128.40.0-24"},
		{"event", "ippools", "p", 200, "", `{"type":"MODIFIED","object":` + many(1) + `}`, "observes pool p at revision 9: fd00:: p-0"},
		{"create", "overlappingrangeipreservations", "10.128.40.47", 201, `{"spec":{"podref":"default/web-2"}}`, "{}", "reserves 10.128.40.47 across ranges for default/web-2"},
		{"delete", "overlappingrangeipreservations", "blue-fd00--1", 200, "", "{}", "deletes the reservation of fd00::1"},
		{"get", "overlappingrangeipreservations", "10.128.40.47", 404, "", "{}", "finds no reservation of 10.128.40.47"},
		{"get", "overlappingrangeipreservations", "10.128.40.47", 200, "", `{"spec":{"podref":"default/web-1"}}`, "finds 10.128.40.47 reserved by default/web-1"},
		{"get", "overlappingrangeipreservations", "what", 500, "", ``, "requests the reservation of what"},
		{"list", "overlappingrangeipreservations", "", 200, "", `{"items":[{}]}`, "reads 1 reservation"},
		{"get", "leases", "whereabouts", 404, "", "", "finds no lease"},
		{"get", "leases", "whereabouts", 200, "", `{"spec":{"holderIdentity":""}}`, "reads the lease: no holder"},
		{"get", "leases", "whereabouts", 200, "", `{"spec":{"holderIdentity":"default/web-0"}}`, "reads the lease: held by default/web-0"},
		{"update", "leases", "whereabouts", 200, `{"spec":{"holderIdentity":"default/web-0","acquireTime":"1","renewTime":"1"}}`, "", "takes the lease as default/web-0"},
		{"create", "leases", "node-1-10.0.0.0-26", 201, `{"spec":{"holderIdentity":"default/web-0","acquireTime":"1","renewTime":"1"}}`, "", "takes the lease node-1-10.0.0.0-26 as default/web-0"},
		{"update", "leases", "whereabouts", 200, `{"spec":{"holderIdentity":"default/web-0","acquireTime":"1","renewTime":"2"}}`, "", "renews the lease as default/web-0"},
		{"update", "leases", "whereabouts", 200, `{"spec":{"holderIdentity":"","acquireTime":"1","renewTime":"1"}}`, "", "releases the lease"},
		{"get", "pods", "web-2", 200, "", `{"metadata":{"namespace":"default","name":"web-2"},"status":{"phase":"Pending"}}`, "reads default/web-2: Pending, no network-status"},
		{"get", "pods", "web-2", 200, "", `{"metadata":{"namespace":"default","name":"web-2","deletionTimestamp":"x","annotations":{"k8s.v1.cni.cncf.io/network-status":"[{\"default\":true,\"ips\":[\"1.1.1.1\"]},{\"ips\":[\"10.0.0.1\"]}]"}},"status":{"phase":"Running"}}`, "reads default/web-2: Running (being deleted), network-status 10.0.0.1"},
		{"get", "pods", "web-2", 404, "", `{}`, "finds no pod default/web-2"},
		{"list", "pods", "", 200, "", `{"items":[{"metadata":{"namespace":"default","name":"web-2"}},{"metadata":{"namespace":"x","name":"y","annotations":{"k8s.v1.cni.cncf.io/network-status":"[]"}}}]}`, "reads 2 pods, 1 without network-status: web-2 Pending"},
		{"list", "pods", "", 200, "", ``, ""},
		{"event", "pods", "web-2", 200, "", `{"type":"DELETED","object":{}}`, "observes that default/web-2 was deleted"},
		{"event", "pods", "web-2", 200, "", `{"type":"ADDED","object":{}}`, ""},
		{"get", "nodeslicepools", "net", 200, "", `{"status":{"allocations":[{"nodeName":"a","sliceRange":"10.0.0.0/26"},{"sliceRange":"10.0.0.64/26"}]}}`, "reads the node slices net: 10.0.0.0/26 a"},
		{"create", "nodeslicepools", "net", 201, `{"status":{"allocations":[{"sliceRange":"10.0.0.64/26"}]}}`, "", "creates the node slices net: 1, none assigned"},
		{"get", "nodes", "a", 200, "", "{}", ""},
		{"patch", "deployments", "a", 200, "[", "", ""},
	} {
		x := kube.Exchange{Verb: c.verb, Resource: c.resource, Namespace: "default", Name: c.name, Status: c.status, Request: []byte(c.request)}
		if c.response != "" {
			x.Response = []byte(c.response)
		}
		if got := prose.Act(new((&instance{}).Act(x))); got != c.want {
			t.Errorf("%s %s %d\n got %q\nwant %q", c.verb, c.resource, c.status, got, c.want)
		}
	}
}
