package cause

import (
	"slices"
	"testing"

	"ipamsim/model/invariant"
)

// If nothing is known of a write, the text has no empty brackets.
func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		link Link
		want string
	}{
		{Link{Role: Wrote, Process: "kube-apiserver", Verb: "CREATE", Resource: "services", Step: 71}, "step 71: kube-apiserver CREATE services broke it"},
		{Link{Role: Wrote, Process: "a", Verb: "PUT", Resource: "b", Outcome: "new", Knew: Knew}, "a PUT b broke it (new; it had read the current state)"},
		{Link{Role: Wrote, Process: "a", Verb: "PUT", Resource: "b", Knew: Knew}, "a PUT b broke it (it had read the current state)"},
	} {
		if got := c.link.Describe(); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// A write that was correct but that no message announced did not break the invariant: the text
// begins with the failed message. The identity of the cause does not change.
func TestUnannounced(t *testing.T) {
	c := Cause{Invariant: invariant.UnservedLoadBalancer.Name, Code: invariant.ClaimNotInStatus, Trigger: "fault", Links: []Link{
		{Role: Wrote, Process: "a", Verb: "PUT", Resource: "blocks", Outcome: "new", Step: 1},
		{Role: Fault, Process: "a", Verb: "PUT", Resource: "services", Outcome: "error", Step: 2},
	}}
	want := []string{"fault", "step 2: a PUT services met an injected fault: error", "step 1: a PUT blocks was correct, but no message announced it (new)"}
	if got := c.Lines(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := c.Key(); got != "unserved-load-balancer, not-in-status, wrote a PUT blocks new, fault a PUT services error" {
		t.Error(got)
	}
}
