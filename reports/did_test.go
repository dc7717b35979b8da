package reports

import (
	"testing"

	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/kube/exchange"
)

// Bodies are read by the report's JSON, whatever they were sent in; without it they are JSON.
func TestDidReadsBodies(t *testing.T) {
	const pod = `{"metadata":{"namespace":"default","name":"web-0"},"status":{"phase":"Running","podIP":"10.0.0.1"}}`
	read := exchange.Exchange{Verb: "get", Resource: "pods", Namespace: "default", Name: "web-0", Status: 200, Response: []byte("in protobuf")}
	for _, tt := range []struct {
		name  string
		json  func([]byte) []byte
		state string
		addrs int
	}{
		{"as JSON", func([]byte) []byte { return []byte(pod) }, "Running", 1},
		{"unread", nil, "Pending", 0},
	} {
		a := (&Report{JSON: tt.json}).Did(&sim.Step{Detail: read})
		if a.Verb != act.Read || a.Thing.Name != "default/web-0" || a.Thing.State != tt.state || len(a.Thing.Parts) != tt.addrs {
			t.Errorf("%s: %+v", tt.name, a)
		}
	}
}

// A deletion waits for no kubelet if its grace period is 0 seconds, or if taint-eviction
// deletes the pod.
func TestDidOfDeletion(t *testing.T) {
	evicted := func(kind, status, reason string) string {
		return `{"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"` + kind + `","status":"` + status + `","reason":"` + reason + `"}]}}`
	}
	for _, tt := range []struct {
		name, request, response string
		unconfirmed             bool
	}{
		{"gracefully", `{}`, `{}`, false},
		{"in ten seconds", `{"gracePeriodSeconds":10}`, `{}`, false},
		{"at once", `{"gracePeriodSeconds":0}`, `{}`, true},
		{"by taint-eviction", ``, evicted("DisruptionTarget", "True", "DeletionByTaintManager"), true},
		{"not yet by taint-eviction", ``, evicted("DisruptionTarget", "False", "DeletionByTaintManager"), false},
		{"by an eviction", ``, evicted("DisruptionTarget", "True", "EvictionByEvictionAPI"), false},
	} {
		x := exchange.Exchange{Verb: "delete", Resource: "pods", Namespace: "default", Name: "web-0", Status: 200, Request: []byte(tt.request), Response: []byte(tt.response)}
		if a := (&Report{}).Did(&sim.Step{Detail: x}); a.Unconfirmed != tt.unconfirmed {
			t.Errorf("%s: unconfirmed %t", tt.name, a.Unconfirmed)
		}
	}
}
