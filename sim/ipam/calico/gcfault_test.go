package calico

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/strategy"
)

// Two controllers and a pass every few minutes, with all faults of their messages: errors, lost
// replies, broken and compacted watches, stale reads, kills. Each dead controller is started again.
// Every run ends, which it would not with a goroutine left over; it repeats; and the only panic is
// that of calico #12741.
func TestControllersSurviveFaults(t *testing.T) {
	for _, ds := range datastores {
		for _, name := range []string{"timed", "random"} {
			for seed := range uint64(3) {
				a, b := faultyRun(t, ds, name, seed), faultyRun(t, ds, name, seed)
				if hermetic.Enabled && a != b {
					t.Errorf("%s, %s, seed %d: another run the second time", ds, name, seed)
				}
			}
		}
	}
}

func faultyRun(t *testing.T, ds, order string, seed uint64) uint64 {
	slow := strategy.Latency{Median: 5 * time.Millisecond, Spread: 1, Tail: .02, Slow: time.Second}
	s, err := strategy.Parse(order, seed, strategy.Settings{Latency: map[string]strategy.Latency{"api": slow, "watch": slow}})
	if err != nil {
		t.Fatal(err)
	}
	o := sim.Options{Faults: sim.Budget{
		Allowed: sim.Of(sim.FailBefore, sim.LoseReply, sim.Drop, sim.Gone, sim.Stale, sim.Crash),
		Max:     60, Only: []string{controllerName, passName},
	}}
	tr, _ := gcPlay(t, gcRun{datastore: ds, seed: seed, strategy: s, options: o}, func(_ context.Context, w *gcWorld) {
		w.Hooks.Panic = func(id sim.ActorID, v any, _ string) {
			if !strings.HasPrefix(fmt.Sprint(v), "interface conversion: interface {} is cache.DeletedFinalStateUnknown, not *v1.") {
				t.Errorf("%s crashed: %v", id, v)
			}
		}
		w.cluster("10.64.75.0/24", "a", "b")
		w.tunnel("a")
		for i := range 12 {
			w.run(fmt.Sprint("p-", i), []string{"a", "b"}[i%2])
		}
		running := []*sim.Actor{w.start(controllerName, controllerName+"-1"), w.start(controllerName, controllerName+"-2")}
		for minute := range 12 {
			time.Sleep(time.Minute)
			if minute%3 == 0 {
				w.vanish(fmt.Sprint("p-", minute))
			}
			switch minute {
			case 5:
				for i := 2; i < 12; i += 2 {
					if i%3 != 0 {
						w.vanish(fmt.Sprint("p-", i))
					}
				}
				w.deleteNode("a")
			case 2, 7, 10:
				w.start(passName, fmt.Sprint(passName, "-", minute))
			}
			for i, a := range running {
				if !w.Alive(a.ID) {
					running[i] = w.start(controllerName, fmt.Sprint(a.ID, "'"))
				}
			}
		}
	})
	return tr.Digest()
}
