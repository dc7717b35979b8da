package shape_test

import (
	"testing"

	"ipamsim/fuzz/shape"
	"ipamsim/sim"
)

// Messages as the doors write them, and what is left of them.
func TestOp(t *testing.T) {
	tests := []struct {
		actor, key string
		kind       sim.OpKind
		shape      string
		object     string
	}{
		{"cni-add/default/web-2/net1~3", "PATCH ippools/kube-system/10.128.40.0-24", sim.Write, "cni-add PATCH ippools", "ippools/kube-system/10.128.40.0-24"},
		{"ip-reconciler~2", "LIST pods?resourceVersion=0", sim.Read, "ip-reconciler LIST pods", "pods"},
		{"kubelet/worker-1/default/web-0", "PATCH pods/default/web-0/status", sim.Write, "kubelet PATCH pods", "pods/default/web-0"},
		{"scheduler", "POST pods/default/web-0/binding", sim.Write, "scheduler POST pods", "pods/default/web-0"},
		{"kubelet/worker-1", "HEAR MODIFIED pods/default/web-0 rv=37", sim.Event, "kubelet HEAR pods", "pods/default/web-0"},
		{"ipam-controller", "HEAR /calico/ipam/v2/assignment/ipv4/block/10.0.0.0-30 (MODIFIED)", sim.Event, "ipam-controller HEAR block", "/calico/ipam/v2/assignment/ipv4/block/10.0.0.0-30"},
		{"ipam-controller", "List /calico/ipam/v2/assignment/", sim.Read, "ipam-controller List block", "/calico/ipam/v2/assignment"},
		{"cni-add/default/a/eth0", "Create /calico/ipam/v2/host/worker-1/ipv4/block/10.0.0.0-30", sim.Write, "cni-add Create affinity", "/calico/ipam/v2/host/worker-1/ipv4/block/10.0.0.0-30"},
		{"cni-add/default/a/eth0", "Get /calico/ipam/v2/config", sim.Read, "cni-add Get ipamconfig", "/calico/ipam/v2/config"},
		{"cni-add/default/a/eth0", "Get /calico/resources/v3/projectcalico.org/nodes/worker-1", sim.Read, "cni-add Get nodes", "/calico/resources/v3/projectcalico.org/nodes/worker-1"},
		{"routing", "ROUTES follow", sim.Local, "routing ROUTES follow", "follow"},
		{"script", "", sim.Local, "script ", ""},
	}
	for _, tt := range tests {
		op := sim.Op{Actor: sim.ActorID(tt.actor), Key: tt.key, Kind: tt.kind}
		if got := shape.Op(op); got != tt.shape {
			t.Errorf("%s %s: shape %q, want %q", tt.actor, tt.key, got, tt.shape)
		}
		if got := shape.Object(op); got != tt.object {
			t.Errorf("%s %s: object %q, want %q", tt.actor, tt.key, got, tt.object)
		}
	}
}
