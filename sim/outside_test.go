package sim_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/strategy"
)

// Virtual time stands still while a call is outside, however long it takes.
func TestOutsideStopsTheClock(t *testing.T) {
	out := sim.NewOutside(1)
	defer out.Close()
	ticks := 0
	run(t, single(strategy.NewSerial()), proc("a", func(ctx context.Context, g *sim.Gate) error {
		tick := time.AfterFunc(time.Nanosecond, func() { ticks++ })
		defer tick.Stop()
		before := time.Now()
		out.Do(func() { time.Sleep(20 * time.Millisecond) })
		if passed := time.Since(before); passed != 0 || ticks != 0 {
			t.Errorf("%v of virtual time passed, %d timers fired", passed, ticks)
		}
		return nil
	}))
}

// The function really runs outside: on the wall clock.
func TestOutsideIsOutside(t *testing.T) {
	out := sim.NewOutside(1)
	defer out.Close()
	run(t, single(strategy.NewSerial()), proc("a", func(context.Context, *sim.Gate) error {
		var year int
		out.Do(func() { year = time.Now().Year() })
		if year < 2025 {
			t.Errorf("outside, the year is %d", year)
		}
		return nil
	}))
}

// A panic outside is a panic of the caller, and the workers survive it.
func TestOutsidePanicCrosses(t *testing.T) {
	out := sim.NewOutside(1)
	defer out.Close()
	var reported []string
	_, err := sim.Run(context.Background(), single(strategy.NewSerial()), func(w *sim.World) error {
		w.Hooks.Panic = func(id sim.ActorID, v any, _ string) { reported = append(reported, fmt.Sprint(id, ": ", v)) }
		start(w,
			proc("a", func(context.Context, *sim.Gate) error { out.Do(explode); return nil }),
			proc("b", func(context.Context, *sim.Gate) error {
				time.Sleep(time.Second)
				out.Do(func() {})
				return nil
			}))
		return nil
	})
	if err != nil || len(reported) != 1 || !strings.HasPrefix(reported[0], "a: boom") || !strings.Contains(reported[0], "explode") {
		t.Errorf("run %v, reported %q", err, reported)
	}
}

// Any number of goroutines, of any number of bubbles, may share one Outside.
func TestOutsideIsShared(t *testing.T) {
	out := sim.NewOutside(2)
	defer out.Close()
	var calls atomic.Int64
	var bubbles sync.WaitGroup
	for range 4 {
		bubbles.Go(func() {
			run(t, single(strategy.NewSerial()), proc("a", func(context.Context, *sim.Gate) error {
				var wg sync.WaitGroup
				for range 500 {
					wg.Go(func() { out.Do(func() { calls.Add(1) }) })
				}
				wg.Wait()
				if n := hermetic.Foreign(); n != 0 {
					t.Errorf("%d wake-ups that no seed decides", n)
				}
				return nil
			}))
		})
	}
	bubbles.Wait()
	if calls.Load() != 2000 {
		t.Errorf("%d calls, want 2000", calls.Load())
	}
}
