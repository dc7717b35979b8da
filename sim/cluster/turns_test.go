package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
)

// With InTurn the kubelets of the whole cluster work on one pod at a time: a turn lasts until
// the pod's ADD has ended, and then the next begins. Without InTurn no pod waits.
func TestInTurn(t *testing.T) {
	for _, x := range []struct {
		name  string
		apart time.Duration
		want  string
	}{
		{"in turn", time.Minute, "0s up, 5s end, 5s up, 10s end, 10s up, 15s end"},
		{"as they are", 0, "0s up, 0s up, 0s up, 5s end, 5s end, 5s end"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "Deployment", 3, func(cfg *cluster.Config) {
				cfg.Manager, cfg.InTurn = outage{takes: 5 * time.Second}.of(cfg.Manager), x.apart
			}, nil, nil)
			var got []string
			for _, line := range only(eventLines(c), "sandbox-up", "add-end") {
				f := strings.Fields(line)
				got = append(got, f[0]+" "+f[2][strings.LastIndex(f[2], "-")+1:])
			}
			if d := cmp.Diff(x.want, strings.Join(got, ", ")); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// A refused pod retries a fixed time after its last attempt was due. Its first attempt is due when
// the pod arrives, even late in the step.
func TestInTurnAgain(t *testing.T) {
	c := run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "Deployment", 0, func(cfg *cluster.Config) {
		cfg.Manager, cfg.InTurn = outage{add: span{0, 5*time.Minute + 15*time.Second}}.of(cfg.Manager), time.Minute
		cfg.Script = []cluster.Entry{{At: 5 * time.Minute, Action: &action.Scale{Kind: "Deployment", Name: "web", Replicas: 1}}}
	}, nil, nil)
	var got []string
	for _, line := range only(eventLines(c), "add-end") {
		got = append(got, strings.Fields(line)[0])
	}
	if d := cmp.Diff([]string{"5m0s", "5m10s", "5m20s"}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
