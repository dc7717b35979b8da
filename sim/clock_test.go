package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/strategy"
)

// A day of virtual time costs nothing, and a run starts at the epoch.
func TestADayPassesImmediately(t *testing.T) {
	var woke time.Time
	began := time.Now()
	o := single(strategy.NewSerial())
	o.Limits.Virtual = 48 * time.Hour
	run(t, o, proc("sleeper", func(context.Context, *sim.Gate) error {
		time.Sleep(24 * time.Hour)
		woke = time.Now()
		return nil
	}))
	if want := sim.Epoch.Add(24 * time.Hour); !woke.Equal(want) {
		t.Errorf("woke at %v, want %v", woke, want)
	}
	if wall := time.Since(began); wall > time.Second {
		t.Errorf("24 virtual hours took %v of the wall clock", wall)
	}
}

// Upstream code seeds sequence numbers from the clock, so no two messages may be
// delivered at one instant.
func TestNoTwoStepsShareAnInstant(t *testing.T) {
	var s server
	tr := run(t, single(strategy.NewRandom(1, strategy.Settings{})), s.sender("a", "1", "2", "3"), s.sender("b", "1", "2", "3"))
	for i, step := range tr.Steps[1:] {
		if step.At <= tr.Steps[i].At {
			t.Errorf("steps %d and %d are both at %v", i+1, i+2, step.At)
		}
	}
}

// Pulling an image takes at least some seconds, whatever the schedule chooses.
func TestServiceIsAMinimum(t *testing.T) {
	var s server
	o := single(strategy.NewSerial())
	o.Service = map[string]time.Duration{"pull": 3 * time.Second}
	tr := run(t, o, proc("kubelet", func(ctx context.Context, g *sim.Gate) error {
		return g.Pass(ctx, sim.Op{Class: "pull", Key: "PULL nginx"}, func(ctx context.Context) error { return s.take(ctx, "pull") })
	}))
	if at := tr.Steps[0].At; at != 3*time.Second {
		t.Errorf("the pull ended at %v, want 3s", at)
	}
}

// A message is delayed at most once, by a step of the ladder, and never to less
// than its service time.
func TestDelayOnce(t *testing.T) {
	var s server
	st := scripted("delay a#1", "=40")
	tr := run(t, single(st), s.sender("a", "x"))
	if at := tr.Steps[0].At; at != sim.Ladder[40] {
		t.Errorf("delivered at %v, want %v", at, sim.Ladder[40])
	}
	if want := []string{"[proceed a#1 delay a#1 elapse]", "[delay a#1 … one per rung of Ladder]", "[proceed a#1 elapse]"}; len(st.seen) != len(want) ||
		st.seen[0] != want[0] || st.seen[2] != want[2] {
		t.Errorf("choices\n%q\nwant\n%q", st.seen, want)
	}

	o := single(scripted("delay a#1", "=0"))
	o.Service = map[string]time.Duration{"api": time.Second}
	if at := run(t, o, s.sender("a", "x")).Steps[0].At; at != time.Second {
		t.Errorf("delivered at %v, want its service time 1s", at)
	}
}

// While a message could be delivered, one Elapse passes half a second at most:
// an unlucky choice must not run every request into its deadline.
func TestElapseIsBounded(t *testing.T) {
	var s server
	tr := run(t, single(scripted("elapse", "elapse")), s.sender("a", "x"))
	if at := tr.Steps[0].At; at != time.Second {
		t.Errorf("delivered at %v after two elapses, want 1s", at)
	}
}

// An Elapse that is chosen right after a step lets time pass. It does not stop at the notification,
// already handled, that this step caused another message to be parked.
func TestElapseAfterAStep(t *testing.T) {
	var s server
	tr := run(t, single(scripted("proceed a#1", "elapse")), s.sender("a", "x", "y"))
	if gap := tr.Steps[1].At - tr.Steps[0].At; gap < 500*time.Millisecond {
		t.Errorf("the elapse between two messages passed %v, want 500ms", gap)
	}
}

// An Elapse ends when a new message is parked, so that the strategy may choose
// again: the late one could be the one to go first.
func TestElapseEndsWithNews(t *testing.T) {
	var s server
	late := proc("b", func(ctx context.Context, g *sim.Gate) error {
		time.Sleep(100 * time.Millisecond)
		return s.send(ctx, g, "x")
	})
	tr := run(t, single(scripted("elapse", "proceed b#1")), s.sender("a", "x"), late)
	if b := tr.Steps[0]; b.Choice.Op.Actor != "b" || b.At != 100*time.Millisecond {
		t.Errorf("first step %v, want b at 0.1s", b)
	}
}

func TestLimits(t *testing.T) {
	chatter := func(pause time.Duration) sim.Process {
		return proc("chatter", func(ctx context.Context, g *sim.Gate) error {
			var s server
			for s.send(ctx, g, "again") == nil {
				time.Sleep(pause)
			}
			return nil
		})
	}
	tests := []struct {
		name  string
		s     sim.Strategy
		limit sim.Limits
		pause time.Duration
		want  error
	}{
		{"steps", strategy.NewSerial(), sim.Limits{Steps: 50}, 0, sim.ErrSteps},
		{"virtual time", strategy.NewSerial(), sim.Limits{Virtual: time.Minute}, time.Second, sim.ErrVirtual},
		{"a strategy that only waits", always(sim.Elapse), sim.Limits{}, 0, sim.ErrVirtual},
		{"a strategy that only waits, in small bits", always(sim.Elapse), sim.Limits{Steps: 50}, 0, sim.ErrSteps},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr, err := sim.Run(context.Background(), sim.Options{Strategy: tt.s, Limits: tt.limit}, func(w *sim.World) error {
				w.Spawn(chatter(tt.pause))
				return nil
			})
			if !errors.Is(err, tt.want) {
				t.Errorf("after %d steps: %v, want %v", len(tr.Steps), err, tt.want)
			}
		})
	}
}

// always picks an outcome whenever it is there.
type always sim.Outcome

func (a always) String() string    { return "always" }
func (a always) Begin(uint64) bool { return true }
func (a always) Pick(_ int, enabled []sim.Choice) int {
	for i, c := range enabled {
		if c.Outcome == sim.Outcome(a) {
			return i
		}
	}
	return 0
}

// A process uses its machine's clock, servers and the kernel use virtual time, and a jump of the
// clock does not move timers.
func TestClockOfAMachine(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("NOT TESTED: the stock runtime has one clock for all; use: make test")
	}
	clock := &sim.Clock{}
	clock.Jump(time.Hour)
	var own, child, server, after time.Duration
	var slept, now time.Duration
	since := func() time.Duration { return time.Now().Round(0).Sub(sim.Epoch).Truncate(time.Minute) }
	p := proc("a", func(ctx context.Context, g *sim.Gate) error {
		began := time.Now()
		own, now = since(), g.World().Now().Truncate(time.Minute)
		done := make(chan bool)
		go func() { child = since(); close(done) }()
		<-done
		err := g.Pass(ctx, sim.Op{Key: "x"}, func(context.Context) error { server = since(); return nil })
		clock.Jump(-3 * time.Hour)
		time.Sleep(time.Minute)
		slept, after = time.Since(began).Truncate(time.Second), since()
		return err
	})
	p.Clock = clock
	run(t, single(strategy.NewSerial()), p)
	for _, c := range []struct {
		what      string
		got, want time.Duration
	}{
		{"its own time", own, time.Hour}, {"that of its goroutine", child, time.Hour}, {"the kernel's", now, 0},
		{"the server's", server, 0}, {"after the jump back", after, -2*time.Hour + time.Minute}, {"what it measured", slept, time.Minute},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}
