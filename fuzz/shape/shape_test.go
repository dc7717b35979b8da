package shape_test

import (
	"testing"

	"ipamsim/fuzz/shape"
	"ipamsim/sim"
)

// The shape of a message has no process and no object.
func TestOp(t *testing.T) {
	tests := []struct {
		actor   string
		request *sim.Request
		want    string
	}{
		{"cni-add/default/web-2/net1~3", &sim.Request{Verb: "PATCH", Resource: "ippools", Namespace: "kube-system", Name: "10.128.40.0-24", Path: "ippools/kube-system/10.128.40.0-24"}, "cni-add PATCH ippools"},
		{"ip-reconciler~2", &sim.Request{Verb: "LIST", Resource: "pods", Path: "pods", Query: "?resourceVersion=0"}, "ip-reconciler LIST pods"},
		{"scheduler", &sim.Request{Verb: "POST", Resource: "pods", Name: "web-0", Subresource: "binding"}, "scheduler POST pods"},
		{"kubelet/worker-1", &sim.Request{Verb: "GET", Path: "/version"}, "kubelet GET"},
		{"routing", &sim.Request{Verb: "ROUTES", Resource: "follow"}, "routing ROUTES follow"},
	}
	for _, tt := range tests {
		if got := shape.Op(sim.Op{Actor: sim.ActorID(tt.actor), Request: tt.request}); got != tt.want {
			t.Errorf("%s %s: shape %q, want %q", tt.actor, tt.request, got, tt.want)
		}
	}
}
