package calico

import (
	"context"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
)

// The grace period of a leak uses the monotonic clock: even if the controller's wall clock jumps by
// a day, an address whose pod is gone is kept for 15 minutes and released in the next scan.
//
// Source: kube-controllers/pkg/controllers/node, allocationState.isConfirmedLeak;
// time.Since goes by the monotonic part of time.Now.
func TestGracePeriodIgnoresTheCalendar(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: the stock runtime has one clock for all; run make test")
	}
	for _, by := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			gcPlay(t, gcRun{}, func(_ context.Context, w *gcWorld) {
				w.cluster("10.64.75.0/28", "a")
				w.run("stays", "a")
				w.run("goes", "a")
				clock := &sim.Clock{}
				w.Spawn(sim.Process{ID: "controller-1", Mortal: true, Clock: clock, Run: w.reconciler(controllerName)})
				time.Sleep(time.Minute)
				w.vanish("goes")
				time.Sleep(8 * time.Minute) // it looks every 7.5
				clock.Jump(by)
				time.Sleep(5 * time.Minute)
				const both, one = "10.64.75.12/30 of a holds 2 | a:10.64.75.12/30 | 2 handles", "10.64.75.12/30 of a holds 1 | a:10.64.75.12/30 | 1 handles"
				w.holds(both)
				time.Sleep(20 * time.Minute)
				w.holds(one)
			})
		})
	}
}
