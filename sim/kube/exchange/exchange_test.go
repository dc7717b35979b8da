package exchange

import (
	"testing"

	"ipamsim/model/act"
)

func TestActOfStatus(t *testing.T) {
	for _, tt := range []struct {
		x       Exchange
		outcome act.Outcome
		failure string
		note    string
	}{
		{Exchange{Verb: "get", Status: 200, Revision: "17"}, act.Done, "", "200 rv=17"},
		{Exchange{Verb: "get", Status: 404, Reason: "NotFound"}, act.Absent, "NotFound", "404 NotFound"},
		{Exchange{Verb: "create", Status: 409, Reason: "AlreadyExists"}, act.Exists, "AlreadyExists", "409 AlreadyExists"},
		{Exchange{Verb: "update", Status: 409, Reason: "Conflict"}, act.Conflict, "Conflict", "409 Conflict"},
		{Exchange{Verb: "patch", Status: 422}, act.Conflict, "Unprocessable Entity", "422"}, // the test of a JSON patch
		{Exchange{Verb: "update", Status: 422, Reason: "Invalid"}, act.Failed, "Invalid", "422 Invalid"},
		{Exchange{Verb: "get", Status: 500}, act.Failed, "Internal Server Error", "500"},
	} {
		if a := tt.x.Act(); a.Outcome != tt.outcome || a.Error != tt.failure || !a.Bare || tt.x.Note() != tt.note {
			t.Errorf("%+v: %+v, note %q", tt.x, a, tt.x.Note())
		}
	}
}

// TestActOfWrite: a write reports the revision that it leaves behind, a read does not; the
// bodies change neither.
func TestActOfWrite(t *testing.T) {
	x := Exchange{Verb: "patch", Resource: "pods", Subresource: "status", Namespace: "default", Name: "web-0", Status: 200, Revision: "7", Request: []byte("{}"), Response: []byte("{}")}
	a := x.Act()
	if a.Left != "7" || a.Thing.Kind != act.Pods || a.Thing.Name != "default/web-0" || a.Subresource != "status" {
		t.Errorf("%+v", a)
	}
	short := x.Short().(Exchange)
	if b := short.Act(); b.Left != a.Left || b.Thing.Name != a.Thing.Name || !short.Bare || short.Size() != 0 || x.Size() != 4 {
		t.Errorf("%+v", short)
	}
	x.Verb, x.Namespace, x.Name = "get", "", "worker-1"
	if a := x.Act(); a.Left != "" || a.Thing.Name != "worker-1" {
		t.Errorf("%+v", a)
	}
}
