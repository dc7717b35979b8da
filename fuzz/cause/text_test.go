package cause

import "testing"

// What is not known of a write leaves no empty brackets behind.
func TestTell(t *testing.T) {
	for _, c := range []struct {
		link Link
		want string
	}{
		{Link{Role: Wrote, Process: "kube-apiserver", Verb: "CREATE", Resource: "services", Step: 71}, "step 71: kube-apiserver CREATE services broke it"},
		{Link{Role: Wrote, Process: "a", Verb: "PUT", Resource: "b", Outcome: "new", Knew: Knew}, "a PUT b broke it (new; it had read what was there)"},
		{Link{Role: Wrote, Process: "a", Verb: "PUT", Resource: "b", Knew: Knew}, "a PUT b broke it (it had read what was there)"},
	} {
		if got := c.link.Tell(); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}
