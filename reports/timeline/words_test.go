package timeline

import (
	"testing"

	"ipamsim/reports"
	"ipamsim/sim"
	"ipamsim/sim/kube/exchange"
)

// Omitted details of a trace are not described: a pod that was read is not described as
// Pending, and what is known of the exchange is said still.
func TestWordsOfShortDetails(t *testing.T) {
	read := exchange.Exchange{Method: "GET", Verb: "get", Resource: "pods", Namespace: "default", Name: "web-0", Status: 200,
		Response: []byte(`{"status":{"phase":"Running","podIP":"10.0.0.1"}}`)}
	all := read
	all.Verb, all.Name, all.Response = "list", "", []byte(`{"items":[{},{}]}`)
	status := read
	status.Method, status.Verb, status.Subresource, status.Request = "PATCH", "patch", "status", []byte(`{"status":{"phase":"Running"}}`)
	refused := status
	refused.Status, refused.Reason, refused.Response = 409, "Conflict", nil
	said := func(detail any) string {
		s := &sim.Step{Detail: detail}
		return Words(s, new((&reports.Report{}).Did(s)))
	}
	for _, tt := range []struct {
		x           exchange.Exchange
		whole, rest string
	}{
		{read, "reads pod default/web-0: Running, 10.0.0.1", "gets pods default/web-0"},
		{all, "lists 2 pods", "lists pods default/"},
		{status, "writes status of pod default/web-0: Running", "patches pods/status default/web-0"},
		{refused, "writes status of pod default/web-0: Running -> 409 Conflict", "patches pods/status default/web-0 -> 409 Conflict"},
	} {
		if got := said(tt.x); got != tt.whole {
			t.Errorf("says %q, want %q", got, tt.whole)
		}
		if got := said(tt.x.Short()); got != tt.rest {
			t.Errorf("shortened: says %q, want %q", got, tt.rest)
		}
	}
}
