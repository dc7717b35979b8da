package scenarios_test

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/kube"
)

// Clocks of nodes that are days apart change what Calico and Whereabouts write
// down, and nothing that they do: with the same seed every process sends the same
// messages in the same order, at the same virtual times, and gets the same
// answers. What they decide by time they measure; what they compare of others is
// not ordered by time (Calico's sequence numbers only for equality, a lease by how
// long ago its reader saw it change).
//
// Source: libcalico-go/lib/ipam/ipam_block.go, allocationBlock.release;
// client-go/tools/leaderelection, LeaderElector.isLeaseValid.
func TestClocksChangeNoDecision(t *testing.T) {
	needClocks(t)
	r := runner(t)
	for _, c := range []struct{ file, datastore string }{
		{"testdata/hazards/whereabouts.yaml", ""}, {"testdata/hazards/calico.yaml", "etcdv3"}, {"testdata/hazards/calico.yaml", "kubernetes"},
	} {
		for seed := range uint64(3) {
			together, apart := clocked(t, r, c.file, c.datastore, seed, 1), clocked(t, r, c.file, c.datastore, seed, 48*time.Hour)
			if d := cmp.Diff(story(t, together), story(t, apart)); d != "" {
				t.Errorf("%s on %s, seed %d: clocks that are 48h apart change the run (-same +apart):\n%.2000s", c.file, c.datastore, seed, d)
			}
		}
	}
}

// clocked is a run in which the clocks of a and b are so far before
// and behind the others; then a's comes back.
func clocked(t *testing.T, r *scenarios.Runner, file, datastore string, seed uint64, by time.Duration) *reports.Report {
	t.Helper()
	s := load(t, file)
	jump := func(at time.Duration, node string, back bool) scenarios.Event {
		return scenarios.Event{At: metav1.Duration{Duration: at}, Action: &action.ClockJump{Node: node, By: metav1.Duration{Duration: by}, Back: back}}
	}
	s.Doc.Spec.Hazards = scenarios.Hazards{}
	s.Doc.Spec.Timeline = []scenarios.Event{jump(0, "a", false), jump(0, "b", true), jump(20*time.Second, "a", true), jump(20*time.Second, "", false)}
	rep, err := r.Run(context.Background(), s, scenarios.Options{Seed: &seed, Datastore: datastore})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// stamp is the end of the name of an Event of Kubernetes: the time of its maker's
// clock.
var stamp = regexp.MustCompile(`(events/[^ ]*\.)[0-9a-f]+`)

// story is the run as a list of steps, without what Events are called.
func story(t *testing.T, r *reports.Report) []string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Trace.Print(&b); err != nil {
		t.Fatal(err)
	}
	return strings.Split(stamp.ReplaceAllString(b.String(), "${1}STAMP"), "\n")
}

// The clock of a node reaches the upstream code: it is in the renew time of
// Whereabouts' lease and in the sequence number of Calico's blocks.
func TestClockReachesUpstream(t *testing.T) {
	needClocks(t)
	r := runner(t)
	for _, c := range []struct {
		file, datastore, resource string
		field                     []string
		time                      func(json.RawMessage) time.Time
	}{
		{"testdata/hazards/whereabouts.yaml", "", "leases", []string{"spec", "renewTime"}, func(b json.RawMessage) (at time.Time) {
			_ = json.Unmarshal(b, &at)
			return at
		}},
		{"testdata/hazards/calico.yaml", "kubernetes", "ipamblocks", []string{"spec", "sequenceNumber"}, func(b json.RawMessage) time.Time {
			var ns int64
			_ = json.Unmarshal(b, &ns)
			return time.Unix(0, ns)
		}},
	} {
		rep := clocked(t, r, c.file, c.datastore, 1, 24*time.Hour)
		var ahead, behind int
		for _, st := range rep.Trace.Steps {
			x, ok := st.Detail.(kube.Exchange)
			if !ok || x.Resource != c.resource || st.Choice.Op.Kind != sim.Write {
				continue
			}
			switch off := c.time(dig(kube.JSON(x.Request), c.field...)).Sub(sim.Epoch); {
			case off > 12*time.Hour:
				ahead++
			case off < -12*time.Hour && off > -48*time.Hour:
				behind++
			}
		}
		if ahead == 0 || behind == 0 {
			t.Errorf("%s: %d written a day ahead and %d a day behind, want some of each", c.resource, ahead, behind)
		}
	}
}

// dig is a field of a JSON object, nil if there is none.
func dig(b json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		var m map[string]json.RawMessage
		if json.Unmarshal(b, &m) != nil {
			return nil
		}
		b = m[name]
	}
	return b
}
