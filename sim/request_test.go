package sim_test

import (
	"testing"

	"ipamsim/sim"
)

// Which messages concern the same object, as a strategy that reverses conflicts must know, and how
// each appears in a trace.
func TestRequestMeets(t *testing.T) {
	list := &sim.Request{Verb: "LIST", Resource: "pods", Path: "pods"}
	some := &sim.Request{Verb: "LIST", Resource: "pods", Path: "pods", Query: "?fieldSelector=spec.nodeName=a"}
	pod := &sim.Request{Verb: "PUT", Resource: "pods", Namespace: "default", Name: "web-1", Path: "pods/default/web-1"}
	other := &sim.Request{Verb: "PUT", Resource: "pods", Namespace: "default", Name: "web-11", Path: "pods/default/web-11"}
	status := &sim.Request{Verb: "PATCH", Resource: "pods", Namespace: "default", Name: "web-1", Subresource: "status", Path: "pods/default/web-1"}
	bind := &sim.Request{Verb: "POST", Resource: "pods", Namespace: "default", Name: "web-1", Subresource: "binding", Path: "pods/default/web-1"}
	mine := &sim.Request{Verb: "STOP", Resource: "containers", Namespace: "default", Name: "web-1"}
	for _, tt := range []struct {
		a, b *sim.Request
		want bool
	}{
		{pod, pod, true}, {pod, list, true}, {list, status, true}, {pod, status, true},
		{pod, other, false}, {status, bind, false}, {some, pod, false}, {some, some, true}, {some, list, false},
		{mine, mine, false}, {nil, pod, false},
	} {
		if tt.a.Meets(tt.b) != tt.want || tt.b.Meets(tt.a) != tt.want {
			t.Errorf("%v and %v meet: want %v", tt.a, tt.b, tt.want)
		}
	}
	if got := some.String() + ", " + status.String(); got != "LIST pods?fieldSelector=spec.nodeName=a, PATCH pods/default/web-1/status" {
		t.Errorf("as text: %s", got)
	}
}
