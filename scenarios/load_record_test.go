package scenarios_test

import (
	"fmt"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
)

// The file may contain the manager's record. Objects that upstream could not read are user errors, with
// line and field.
func TestBadRecord(t *testing.T) {
	calico := fmt.Sprintf(staging, "etcdv3", "[]")
	ranges := "apiVersion: ipamsim.dev/v1alpha1\nkind: Scenario\nmetadata: {name: x}\nspec: {ipam: whereabouts, until: 1m, nodes: [n1]}\n" +
		"---\napiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: net}\n" +
		`spec: {config: '{"cniVersion": "0.3.1", "name": "net", "type": "macvlan", "ipam": {"type": "whereabouts", "range": "10.0.0.0/28"}}'}` +
		"\n---\napiVersion: whereabouts.cni.cncf.io/v1alpha1\nkind: IPPool\nmetadata: {name: 10.0.0.0-28, namespace: kube-system}\n" +
		"spec: {range: 10.0.0.0/28, allocations: {\"1\": {id: c, podref: default/web-0, ifname: net1}}}\n" +
		"---\napiVersion: whereabouts.cni.cncf.io/v1alpha1\nkind: OverlappingRangeIPReservation\nmetadata: {name: 10.0.0.1, namespace: kube-system}\n" +
		"spec: {containerid: c, podref: default/web-0, ifname: net1}\n"
	for _, c := range []struct{ text, from, to, want string }{
		{calico, "", "", ""},
		{calico, "cidr: 10.64.75.0/29\n", "cidr: 10.64.75.0/33\n", "IPAMBlock 10-64-75-0-29: spec.cidr: invalid CIDR address: 10.64.75.0/33"},
		{calico, "[0, 1, 2, null,", "[0, 1, 2, null, null,", "IPAMBlock 10-64-75-0-29: spec.allocations: block 10.64.75.0/29 has room for 8 addresses, but lists 9"},
		{calico, "state: confirmed", "state: sure", `BlockAffinity node-a-10-64-75-0-29: spec.state: "sure"`},
		{calico, "block: {10.64.75.0/29: 1}", "block: {10.64.75: 1}", "IPAMHandle k8s-pod-network.c0: spec.block: "},
		{calico, "name: 10-64-75-8-29", "name: 10-64-75-9-29", `metadata.name: "10-64-75-9-29": Calico calls this object 10-64-75-8-29`},
		{ranges, "", "", ""},
		{ranges, "range: 10.0.0.0/28, all", "range: 10.0.0.0-28, all", `test.yaml:14: IPPool kube-system/10.0.0.0-28: spec.range: "10.0.0.0-28" is no range`},
		{ranges, `"1": {id`, `"one": {id`, `spec.allocations: "one" is no distance from the range's first address`},
		{ranges, "name: 10.0.0.1,", "name: ten,", `metadata.name: "ten" does not end in an address`},
	} {
		_, err := managers.All().Parse("test.yaml", []byte(strings.Replace(c.text, c.from, c.to, 1)))
		switch {
		case c.want == "" && err != nil:
			t.Error(err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
