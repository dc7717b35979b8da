package sim_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/strategy"
)

// Ctrl-C ends an endless run within a second and keeps its trace.
func TestInterruptedFromOutside(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	o := single(strategy.NewSerial())
	o.Limits.Steps, o.Limits.Virtual = 1<<40, 1<<62
	tr, err := sim.Run(ctx, o, func(w *sim.World) error {
		var s server
		w.Spawn(proc("a", func(ctx context.Context, g *sim.Gate) error {
			for s.send(ctx, g, "again") == nil {
			}
			return nil
		}))
		return nil
	})
	if wall := time.Since(began); !errors.Is(err, sim.ErrInterrupted) || wall > time.Second || len(tr.Steps) == 0 {
		t.Errorf("ended after %v and %d steps with %v", wall, len(tr.Steps), err)
	}
}

// Even a bubble that no longer listens is given up within a second.
func TestInterruptedWhileStuck(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	forever := make(chan struct{}) // created outside: waiting for it is not a durable block
	defer close(forever)
	began := time.Now()
	_, err := sim.Run(ctx, single(strategy.NewSerial()), func(w *sim.World) error {
		w.Spawn(proc("a", func(context.Context, *sim.Gate) error { <-forever; return nil }))
		return nil
	})
	if wall := time.Since(began); !errors.Is(err, sim.ErrInterrupted) || wall > time.Second {
		t.Errorf("ended after %v with %v", wall, err)
	}
}

// A panic of a process is passed to Hooks.Panic, and the run continues.
func TestActorPanic(t *testing.T) {
	var s server
	var reported []string
	var a *sim.Actor
	_, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
		w.Hooks.Panic = func(id sim.ActorID, v any, stack string) {
			reported = append(reported, fmt.Sprint(id, " ", v, " ", strings.Contains(stack, "explode")))
		}
		a = w.Spawn(proc("a", func(ctx context.Context, g *sim.Gate) error {
			_ = s.send(ctx, g, "x")
			explode()
			return nil
		}))
		start(w, proc("b", func(ctx context.Context, g *sim.Gate) error {
			<-a.Done()
			return s.send(ctx, g, "y")
		}))
		return nil
	})
	if err != nil || len(s.got) != 2 {
		t.Errorf("the run did not go on: %v, %q", err, s.got)
	}
	if want := "[a boom true]"; fmt.Sprint(reported) != want {
		t.Errorf("reported %v, want %v", reported, want)
	}
	if got := fmt.Sprint(a.Err()); got != "panic: boom" {
		t.Errorf("Err is %q", got)
	}
}

func explode() { panic("boom") }

// A panic of a killed process while it unwinds is ignored.
func TestPanicAfterDeath(t *testing.T) {
	_, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
		w.Hooks.Panic = func(id sim.ActorID, v any, _ string) { t.Errorf("reported %s: %v", id, v) }
		start(w, proc("a", func(ctx context.Context, g *sim.Gate) error {
			w.Kill("a")
			panic("unheard")
		}))
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A defect of the harness is returned as an error, never a crash.
func TestHarnessDefects(t *testing.T) {
	defect := errors.New("no such scenario")
	var s server
	tests := []struct {
		name  string
		s     sim.Strategy
		setup func(*sim.World) error
		want  string
	}{
		{"error", scripted(), func(*sim.World) error { return defect }, "no such scenario"},
		{"panic in setup", scripted(), func(*sim.World) error { panic("oops") }, "harness panicked: oops"},
		{"exit in setup", scripted(), func(*sim.World) error { runtime.Goexit(); return nil }, "runtime.Goexit"},
		{"panic in a hook", scripted(), func(w *sim.World) error {
			w.Hooks.Step = func(*sim.Step) { panic("oops") }
			w.Spawn(s.sender("a", "x"))
			return nil
		}, "harness panicked: oops"},
		{"panic in the strategy", broken{}, func(w *sim.World) error { w.Spawn(s.sender("a", "x")); return nil }, "harness panicked: runtime error: index out of range"},
		{"one name twice", scripted(), func(w *sim.World) error {
			w.Spawn(s.sender("a", "x"))
			w.Spawn(s.sender("a", "x"))
			return nil
		}, `actor "a" is alive already`},
		{"bad name", scripted(), func(w *sim.World) error { w.Spawn(s.sender("a b")); return nil }, `"a b" is not one word`},
		{"abort", scripted(), func(w *sim.World) error {
			w.Hooks.Step = func(*sim.Step) { w.Abort(defect) }
			w.Spawn(s.sender("a", "x", "y"))
			return nil
		}, "no such scenario"},
		{"goroutine left behind", scripted(), func(w *sim.World) error {
			go func() { select {} }()
			w.Finish()
			return nil
		}, "goroutines were left behind"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr, err := sim.Run(context.Background(), single(tt.s), tt.setup)
			if err == nil || !strings.Contains(err.Error(), tt.want) || tr == nil {
				t.Errorf("got %v (trace %v), want ...%s...", err, tr, tt.want)
			}
		})
	}
}

// Goroutines that a process leaves behind end with the run on the hermetic runtime, as an operating
// system ends the rest of a process. The stock runtime cannot end them.
func TestProcessLeavesGoroutines(t *testing.T) {
	_, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
		start(w, proc("a", func(context.Context, *sim.Gate) error {
			go func() { <-make(chan int) }()
			return nil
		}))
		return nil
	})
	if left := err != nil && strings.Contains(err.Error(), "goroutines were left behind"); left == hermetic.Enabled {
		t.Errorf("hermetic: %v, ended with %v", hermetic.Enabled, err)
	}
}

type broken struct{}

func (broken) String() string             { return "broken" }
func (broken) Begin(uint64) bool          { return true }
func (broken) Pick(int, []sim.Choice) int { return []int{}[0] }

// A pick out of range is moved into it, and the trace records the actual choice.
func TestPickOutOfRange(t *testing.T) {
	for _, p := range []int{-7, 7000} {
		var s server
		o := single(fixed(p))
		o.Limits.Virtual = time.Minute
		_, err := sim.Run(context.Background(), o, func(w *sim.World) error { start(w, s.sender("a", "x")); return nil })
		if err != nil && !errors.Is(err, sim.ErrVirtual) {
			t.Error(err)
		}
	}
}

type fixed int

func (fixed) String() string               { return "fixed" }
func (fixed) Begin(uint64) bool            { return true }
func (f fixed) Pick(int, []sim.Choice) int { return int(f) }

// A process that some leftover goroutine spawns when the run is over is dead on
// arrival; it cannot keep the bubble open.
func TestSpawnAfterTheEnd(t *testing.T) {
	var s server
	var child *sim.Actor
	_, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
		w.Spawn(proc("parent", func(ctx context.Context, g *sim.Gate) error {
			<-ctx.Done()
			child = w.Spawn(proc("child", func(ctx context.Context, g *sim.Gate) error {
				defer func() { _ = s.send(context.Background(), g, "x") }()
				<-ctx.Done()
				return ctx.Err()
			}))
			return nil
		}))
		w.Finish()
		return nil
	})
	if err != nil || len(s.got) > 0 || !errors.Is(child.Err(), sim.ErrKilled) {
		t.Errorf("run %v, server got %q, child %v", err, s.got, child.Err())
	}
}

// Settle is called after every step until nothing moves; End once, with the
// processes still alive.
func TestHooks(t *testing.T) {
	var s server
	owed, settled, ended := 0, 0, 0
	_, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
		w.Hooks = sim.Hooks{
			Settle: func() bool {
				if owed > 0 {
					owed--
					settled++
					return true
				}
				return false
			},
			Step: func(*sim.Step) {
				if owed != 0 {
					t.Errorf("judged while the server still owed %d", owed)
				}
			},
			End: func() {
				ended++
				if !w.Alive("daemon") {
					t.Error("the daemon is dead before End")
				}
			},
		}
		w.Spawn(proc("daemon", func(ctx context.Context, _ *sim.Gate) error { <-ctx.Done(); return nil }))
		start(w, proc("a", func(ctx context.Context, g *sim.Gate) error {
			for range 3 {
				owed += 2
				_ = s.send(ctx, g, "x")
			}
			return nil
		}))
		return nil
	})
	if err != nil || settled != 6 || ended != 1 {
		t.Errorf("settled %d, ended %d, %v", settled, ended, err)
	}
}

// busyWorld is a run with enough going on to notice any influence from outside.
func busyWorld(t testing.TB, seed uint64) uint64 {
	var s server
	o := single(strategy.NewTimed(seed, strategy.Settings{}))
	o.Faults = everything
	o.Seed = seed
	var ps []sim.Process
	for i := range 6 {
		ps = append(ps, proc(sim.ActorID(fmt.Sprint("p", i)), func(ctx context.Context, g *sim.Gate) error {
			for k := range 10 {
				n, err := g.Draw(ctx, "pause", 4)
				if err != nil {
					continue
				}
				time.Sleep(time.Duration(n) * time.Second)
				_ = s.send(ctx, g, fmt.Sprint(k))
			}
			return nil
		}))
	}
	return run(t, o, ps...).Digest()
}

// Worlds do not influence each other, whether they run one after the other or concurrently.
func TestWorldsAreSeparate(t *testing.T) {
	want := make([]uint64, 8)
	for i := range want {
		want[i] = busyWorld(t, uint64(i))
	}
	var wg sync.WaitGroup
	for i := range want {
		for range 4 {
			wg.Go(func() {
				if got := busyWorld(t, uint64(i)); got != want[i] {
					t.Errorf("seed %d: digest %x beside others, %x alone", i, got, want[i])
				}
			})
		}
	}
	wg.Wait()
}

// Cleanups run when the run is over and every process is dead, last first, also
// after a setup that gave up half-way.
func TestCleanup(t *testing.T) {
	for _, broken := range []error{nil, errors.New("half-way")} {
		var order []string
		_, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
			w.Cleanup(func() { order = append(order, "first") })
			w.Cleanup(func() { order = append(order, fmt.Sprint("second, alive: ", w.Alive("daemon"))) })
			w.Spawn(proc("daemon", func(ctx context.Context, _ *sim.Gate) error { <-ctx.Done(); return nil }))
			w.Finish()
			return broken
		})
		if want := "[second, alive: false first]"; !errors.Is(err, broken) || fmt.Sprint(order) != want {
			t.Errorf("%v, %v, want %v, %v", order, err, want, broken)
		}
	}
}
