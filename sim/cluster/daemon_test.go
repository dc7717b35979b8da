package cluster_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/ipam"
)

// The end of a daemon is in the history. The daemon starts again after the kubelet's first
// back-off.
func TestDaemonStartsAgain(t *testing.T) {
	got := eventLines(run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "StatefulSet", 0, func(cfg *cluster.Config) {
		canary, m := *cfg.Manager, *cfg.Manager
		m.Processes = []ipam.Process{{Name: "loop", Daemon: true}}
		m.Open = func(e ipam.Env) (ipam.Instance, error) {
			i, err := canary.Open(e)
			i.Run = map[string]ipam.Run{"loop": func(ctx context.Context, _ *sim.Gate, _ string) error {
				select {
				case <-time.After(5 * time.Second):
					return errors.New("no more")
				case <-ctx.Done():
					return ctx.Err()
				}
			}}
			return i, err
		}
		cfg.Manager, cfg.Daemons, cfg.Until = &m, []string{"loop"}, 30*time.Second
	}, nil, nil))
	want := []string{"0s a up", "0s b up", "5s exit: no more", "20s exit: no more"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
