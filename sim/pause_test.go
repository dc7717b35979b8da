package sim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// A leader writes under a lease of a second and is paused for ten. Whether its
// write still goes when it wakes, before it looks at the clock, is the
// schedule's choice; a partition does not stop the clock, so that there it
// gives up in time.
func TestPausedPastItsDeadline(t *testing.T) {
	for _, tt := range []struct {
		name   string
		stop   func(*sim.World, string)
		resume func(*sim.World, string)
		st     sim.Strategy
		want   string
	}{
		{"paused, the write goes first", (*sim.World).Pause, (*sim.World).Resume, strategy.NewSerial(), "wrote at 10s: <nil>"},
		{"paused, it looks at the clock first", (*sim.World).Pause, (*sim.World).Resume, scripted("elapse", "elapse", "elapse"), "noticed at 10.001s: context deadline exceeded"},
		{"partitioned", (*sim.World).Hold, (*sim.World).Release, strategy.NewSerial(), "noticed at 1s: context deadline exceeded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			leader := proc("leader", func(ctx context.Context, g *sim.Gate) error {
				w := g.World()
				tt.stop(w, "leader")
				lease, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				time.AfterFunc(10*time.Second, func() { tt.resume(w, "leader") })
				wrote := false
				err := g.Pass(lease, sim.Op{Kind: sim.Write, Key: "PUT"}, func(ctx context.Context) error { wrote = true; return ctx.Err() })
				what := "noticed"
				if wrote {
					what = "wrote"
				}
				got = fmt.Sprintf("%s at %v: %v", what, w.Now().Truncate(time.Millisecond), err)
				return nil
			})
			run(t, single(tt.st), leader)
			if got != tt.want {
				t.Errorf("it %s, want %s", got, tt.want)
			}
		})
	}
}

// A process that dies in its sleep is dead, and the run ends.
func TestKilledWhilePaused(t *testing.T) {
	var after error
	sleeper := proc("sleeper", func(ctx context.Context, g *sim.Gate) error {
		g.World().Pause("sleeper")
		time.AfterFunc(2*time.Second, func() { g.World().Kill("sleeper") })
		lease, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		after = g.Pass(lease, sim.Op{Key: "PUT"}, func(context.Context) error { return nil })
		return nil
	})
	run(t, single(strategy.NewSerial()), sleeper)
	if !errors.Is(after, sim.ErrKilled) {
		t.Errorf("got %v, want %v", after, sim.ErrKilled)
	}
}

// A message reaches a process only while the process runs and is neither paused nor partitioned.
func TestReached(t *testing.T) {
	var got []bool
	_, err := sim.Run(context.Background(), single(strategy.NewSerial()), func(w *sim.World) error {
		server := make(chan *sim.Gate, 1)
		start(w, sim.Process{ID: "client", Group: "node-1", Run: func(_ context.Context, g *sim.Gate) error {
			server <- g
			time.Sleep(time.Minute)
			return nil
		}}, proc("server", func(context.Context, *sim.Gate) error {
			g := <-server
			record := func() { got = append(got, g.Reached()) }
			record()
			w.Hold("node-1")
			record()
			w.Pause("client")
			record()
			w.Release("node-1")
			record()
			w.Resume("client")
			record()
			time.Sleep(2 * time.Minute)
			record()
			return nil
		}))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []bool{true, false, false, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("reached %v, want %v", got, want)
	}
}
