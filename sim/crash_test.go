package sim_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
)

func needHermetic(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("NOT TESTED: on the stock runtime a panic of a goroutine that nothing recovers ends this process; use: make test")
	}
}

// torn is a process with a goroutine that panics while the others send messages and wait for
// it without effect.
func torn(s *server) sim.Process {
	return proc("a", func(ctx context.Context, g *sim.Gate) error {
		var wg sync.WaitGroup
		never := make(chan struct{})
		wg.Add(2)
		go func() {
			for wg.Done(); ; time.Sleep(time.Second) {
				_ = s.send(context.Background(), g, "heartbeat")
			}
		}()
		go func() {
			_ = s.send(context.Background(), g, "unlock")
			<-never
			wg.Done()
		}()
		go func() {
			defer func() { _ = s.send(ctx, g, "last words") }()
			time.Sleep(2500 * time.Millisecond)
			explode()
		}()
		wg.Wait()
		return nil
	})
}

// A panic on any goroutine of a process ends the whole process. The panic is reported with its
// value and stack, no later message leaves the process, waiters see its end, and the run continues
// to its end.
func TestCrashOnAnyGoroutine(t *testing.T) {
	needHermetic(t)
	digests := map[string]int{}
	for range 5 {
		var s server
		var reported []string
		var a *sim.Actor
		tr, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
			w.Hooks.Panic = func(id sim.ActorID, v any, stack string) {
				reported = append(reported, fmt.Sprint(id, " ", v, " ", strings.Contains(stack, "explode"), " ", w.Alive("a")))
			}
			a = w.Spawn(torn(&s))
			start(w, proc("b", func(ctx context.Context, g *sim.Gate) error {
				<-a.Done()
				time.Sleep(time.Minute)
				return s.send(ctx, g, "the other one")
			}))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := "[a boom true false]"; fmt.Sprint(reported) != want {
			t.Errorf("reported %v, want %v", reported, want)
		}
		if got := fmt.Sprint(a.Err()); got != "panic: boom" {
			t.Errorf("Err is %q", got)
		}
		if got := strings.Join(s.got, ", "); !strings.HasSuffix(got, "a last words, b the other one") || strings.Count(got, "heartbeat") != 3 {
			t.Errorf("the server got %s", got)
		}
		digests[fmt.Sprint(tr.Digest())]++
	}
	if len(digests) != 1 {
		t.Errorf("five runs, %d courses", len(digests))
	}
}

// A process may panic with a mutex held for which its other goroutines wait.
func TestCrashWithMutexHeld(t *testing.T) {
	needHermetic(t)
	var s server
	_, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
		a := w.Spawn(proc("a", func(ctx context.Context, g *sim.Gate) error {
			var mu sync.Mutex
			go func() {
				mu.Lock()
				_ = s.send(ctx, g, "x")
				explode()
			}()
			time.Sleep(time.Second)
			mu.Lock()
			return nil
		}))
		start(w, proc("b", func(ctx context.Context, g *sim.Gate) error {
			<-a.Done()
			return s.send(ctx, g, "y")
		}))
		return nil
	})
	if got := fmt.Sprint(s.got); err != nil || got != "[a x b y]" {
		t.Errorf("%v, the server got %s", err, got)
	}
}

// A program may return from main, killed or not, while its goroutines wait forever, with a
// mutex held that others wait for.
func TestExitWithMutexHeld(t *testing.T) {
	needHermetic(t)
	for _, killed := range []bool{false, true} {
		o := single(scripted())
		o.Limits.Stuck = 2 * time.Second
		_, err := sim.Run(context.Background(), o, func(w *sim.World) error {
			a := w.Spawn(proc("a", func(ctx context.Context, g *sim.Gate) error {
				var mu sync.Mutex
				silent := make(chan bool)
				go func() {
					mu.Lock()
					silent <- true
				}()
				go func() {
					time.Sleep(time.Second)
					mu.Lock()
				}()
				if killed {
					<-ctx.Done()
				}
				g.Exited()
				return nil
			}))
			start(w, proc("b", func(ctx context.Context, g *sim.Gate) error {
				time.Sleep(time.Minute)
				if killed {
					w.Kill("a")
				}
				<-a.Done()
				return nil
			}))
			return nil
		})
		if err != nil {
			t.Errorf("killed %v: %v", killed, err)
		}
	}
}

// A goroutine that panics after its process was killed, or after another of its goroutines has
// panicked, causes no further crash.
func TestCrashAfterDeath(t *testing.T) {
	needHermetic(t)
	var reported []string
	_, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
		w.Hooks.Panic = func(id sim.ActorID, v any, _ string) { reported = append(reported, fmt.Sprint(id, " ", v)) }
		late := func(v string) func(context.Context, *sim.Gate) error {
			return func(ctx context.Context, g *sim.Gate) error {
				for i := range 3 {
					go func() {
						time.Sleep(time.Duration(i+1) * time.Second)
						panic(fmt.Sprint(v, " ", i))
					}()
				}
				<-ctx.Done()
				return ctx.Err()
			}
		}
		w.Spawn(proc("killed", late("unheard")))
		w.Spawn(proc("crashed", late("heard")))
		start(w, proc("killer", func(context.Context, *sim.Gate) error {
			w.Kill("killed")
			time.Sleep(time.Minute)
			return nil
		}))
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(reported); got != "[crashed heard 0]" {
		t.Errorf("reported %s", got)
	}
}

// A panic that belongs to no process crashes no process.
func TestServersPanicIsNoCrash(t *testing.T) {
	needHermetic(t)
	if got := hermetic.SetProcess(nil); got != nil {
		t.Fatalf("the test belongs to %v", got)
	}
	_, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
		start(w, proc("a", func(ctx context.Context, g *sim.Gate) error {
			return g.Pass(ctx, sim.Op{Key: "x"}, func(context.Context) error {
				if p := hermetic.SetProcess(nil); p != nil {
					t.Errorf("what a server does for a message belongs to the process that sent it: %v", p)
				}
				return nil
			})
		}))
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
