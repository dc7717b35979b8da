package unsupported_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ipamsim/scenarios/dump/unsupported"
)

func TestManagers(t *testing.T) {
	var got []string
	for _, u := range unsupported.Managers(map[string]int{
		"CiliumNode.cilium.io": 3, "CiliumNetworkPolicy.cilium.io": 9, "Subnet.kubeovn.io": 1, "IP.kubeovn.io": 4, "AddressPool.metallb.io": 1, "Secret": 2,
	}) {
		got = append(got, fmt.Sprint(u))
	}
	want := []string{
		"cannot judge what Cilium assigns: its objects (CiliumNode.cilium.io) are not read",
		"cannot judge what kube-ovn assigns: its objects (IP.kubeovn.io, Subnet.kubeovn.io) are not read",
		"cannot judge what MetalLB assigns: its objects (AddressPool.metallb.io) are not read",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if out := unsupported.Managers(map[string]int{"CiliumNetworkPolicy.cilium.io": 9}); out != nil {
		t.Errorf("a policy says nothing of addresses: %v", out)
	}
}
