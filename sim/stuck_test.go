package sim_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/strategy"
)

// When the bubble is stuck, the watchdog outside reports the cause. Each case is a mistake that
// happened during the project's proof of concept.
//
// A stuck bubble cannot be unwound, so each case ends its goroutines through plain memory or
// channels from outside.
func TestWatchdogNamesTheCause(t *testing.T) {
	var stop atomic.Bool
	outside := make(chan struct{})
	var never sync.Mutex
	never.Lock()
	pipe := make([]int, 2)
	if err := unix.Pipe(pipe); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop.Store(true); close(outside); never.Unlock(); _, _ = unix.Write(pipe[1], []byte{0}) })

	tests := []struct {
		name  string
		setup func(w *sim.World, s *server)
		want  string
	}{
		{"mutex held across the gate, wanted by a pinned goroutine", func(w *sim.World, s *server) {
			var mu sync.Mutex
			locked := make(chan struct{})
			w.Spawn(proc("a", holding(&mu, locked, s)))
			w.Spawn(proc("b", func(context.Context, *sim.Gate) error {
				<-locked
				hermetic.Pin(true)
				mu.Lock()
				return nil
			}))
		}, "mutex that another one holds while its message is parked at the gate"},
		{"mutex never unlocked", func(w *sim.World, _ *server) {
			w.Spawn(proc("a", func(context.Context, *sim.Gate) error {
				never.Lock()
				defer never.Unlock()
				return nil
			}))
		}, "mutex that is never unlocked"},
		{"busy loop", func(w *sim.World, s *server) {
			w.Spawn(s.sender("parked", "x"))
			w.Spawn(proc("a", func(context.Context, *sim.Gate) error {
				for !stop.Load() {
				}
				return nil
			}))
		}, `spins or computes without end: (atomic\.\(\*Bool\)\.Load \(type\.go:\d+\), called by )?sim_test\.TestWatchdogNamesTheCause\.func`},
		{"channel from outside", func(w *sim.World, s *server) {
			w.Spawn(s.sender("parked", "x"))
			w.Spawn(proc("a", func(context.Context, *sim.Gate) error { <-outside; return nil }))
		}, "channel or a connection from outside the bubble"},
		{"select on channels from outside", func(w *sim.World, s *server) {
			w.Spawn(proc("a", func(ctx context.Context, _ *sim.Gate) error {
				select {
				case <-outside:
				case <-ctx.Done():
				}
				return nil
			}))
		}, "channel or a connection from outside the bubble"},
		{"system call, while another one waits inside", func(w *sim.World, _ *server) {
			inside := make(chan struct{})
			w.Spawn(proc("a", func(ctx context.Context, _ *sim.Gate) error {
				select {
				case <-inside:
				case <-ctx.Done():
				}
				return nil
			}))
			w.Spawn(proc("b", func(context.Context, *sim.Gate) error {
				_, err := unix.Read(pipe[0], make([]byte, 1))
				return err
			}))
		}, "waits in a system call: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s server
			o := sim.Options{Strategy: strategy.NewSerial(), Limits: sim.Limits{Stuck: 300 * time.Millisecond}}
			began := time.Now()
			_, err := sim.Run(context.Background(), o, func(w *sim.World) error { tt.setup(w, &s); return nil })
			var stuck *sim.Stuck
			if !errors.As(err, &stuck) {
				t.Fatalf("got %v, want a Stuck", err)
			}
			if !regexp.MustCompile(tt.want).MatchString(stuck.Cause) {
				t.Errorf("cause %q, want ...%s...\n%s", stuck.Cause, tt.want, stuck.Stacks)
			}
			if !strings.Contains(stuck.Stacks, "stuck_test.go") {
				t.Errorf("the stacks do not show the culprit:\n%s", stuck.Stacks)
			}
			if wall := time.Since(began); wall > 10*time.Second { // far less than 30 s without the limit, far more than a busy machine needs
				t.Errorf("noticed after %v", wall)
			}
		})
	}
}

// holding sends a message with a lock in its hand.
func holding(l sync.Locker, locked chan struct{}, s *server) func(context.Context, *sim.Gate) error {
	return func(ctx context.Context, g *sim.Gate) error {
		l.Lock()
		defer l.Unlock()
		close(locked)
		return s.send(ctx, g, "first")
	}
}

// Upstream may hold a mutex across the gate (client-go's and Kubernetes' controllers do). A
// goroutine that needs the mutex waits in virtual time.
func TestMutexAcrossTheGate(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("NOT TESTED: on the stock runtime virtual time stands still while a goroutine waits for a mutex")
	}
	var mu sync.Mutex
	var rw sync.RWMutex
	for name, l := range map[string]struct{ held, wanted sync.Locker }{
		"Mutex": {&mu, &mu}, "RWMutex, writer": {rw.RLocker(), &rw}, "RWMutex, reader": {&rw, rw.RLocker()},
	} {
		t.Run(name, func(t *testing.T) {
			var s server
			o := sim.Options{Strategy: strategy.NewSerial(), Limits: sim.Limits{Stuck: time.Second}}
			if _, err := sim.Run(context.Background(), o, func(w *sim.World) error {
				locked := make(chan struct{})
				start(w, proc("a", holding(l.held, locked, &s)), proc("b", func(ctx context.Context, g *sim.Gate) error {
					<-locked
					l.wanted.Lock()
					defer l.wanted.Unlock()
					return s.send(ctx, g, "second")
				}))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.got, ", "); got != "a first, b second" {
				t.Errorf("the server got %q", got)
			}
		})
	}
}

// A run that is slow but moves is not stuck.
func TestSlowIsNotStuck(t *testing.T) {
	var s server
	o := sim.Options{Strategy: strategy.NewSerial(), Limits: sim.Limits{Stuck: 300 * time.Millisecond}}
	out := sim.NewOutside(1)
	defer out.Close()
	run(t, o, proc("a", func(ctx context.Context, g *sim.Gate) error {
		for range 10 {
			out.Do(func() { time.Sleep(60 * time.Millisecond) })
			_ = s.send(ctx, g, "x")
		}
		return nil
	}))
}
