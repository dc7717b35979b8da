package sim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// tidyWorker behaves like upstream code: it sends five messages, retries, and
// cleans up in deferred calls that use contexts of their own, in its own and in
// other goroutines.
func tidyWorker(s *server) sim.Process {
	return sim.Process{ID: "victim", Group: "node-1", Mortal: true, Run: func(ctx context.Context, g *sim.Gate) error {
		side := make(chan struct{})
		defer func() { <-side }()
		defer func() { _ = s.send(context.Background(), g, "release lease") }()
		defer func() {
			for i := range 3 {
				if s.send(context.WithoutCancel(ctx), g, fmt.Sprint("cleanup ", i)) != nil {
					time.Sleep(time.Second)
				}
			}
		}()
		go func() {
			defer close(side)
			for i := range 3 {
				time.Sleep(time.Second)
				_ = s.send(context.Background(), g, fmt.Sprint("heartbeat ", i))
			}
		}()
		for i := range 5 {
			if err := s.send(ctx, g, fmt.Sprint("work ", i)); err != nil {
				return err
			}
		}
		return nil
	}}
}

// If a process is killed at any of its messages, no later message reaches the server, from whatever
// goroutine or deferred call.
func TestKillAtEveryMessage(t *testing.T) {
	var whole server
	n := len(run(t, single(scripted()), tidyWorker(&whole)).Steps)
	if n < 9 {
		t.Fatalf("the worker sent only %d messages: %q", n, whole.got)
	}
	for k := 1; k <= n; k++ {
		var s server
		o := single(scripted(fmt.Sprintf("crash victim#%d", k)))
		o.Faults = everything
		tr := run(t, o, tidyWorker(&s), s.sender("bystander", "x"))
		crash := slices.IndexFunc(tr.Steps, func(st *sim.Step) bool { return st.Choice.Outcome == sim.Crash })
		if crash < 0 {
			t.Fatalf("no crash at message %d: %v", k, tr.Steps)
		}
		for _, st := range tr.Steps[crash+1:] {
			if st.Choice.Op.Actor == "victim" {
				t.Errorf("killed at message %d, yet step %v", k, st)
			}
		}
		if got := slices.DeleteFunc(s.got, func(l string) bool { return strings.HasPrefix(l, "bystander") }); !cmp.Equal(got, whole.got[:k-1]) {
			t.Errorf("killed at message %d: the server got\n%q\nwant\n%q", k, got, whole.got[:k-1])
		}
	}
}

// Kill from another process, at every instant of the victim's run.
func TestKillFromOutside(t *testing.T) {
	for k := range 9 {
		var s server
		tr, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
			steps := 0
			w.Hooks.Step = func(*sim.Step) {
				if steps++; steps == k {
					if !w.Kill("victim") || w.Kill("victim") || w.Alive("victim") {
						t.Errorf("after step %d: Kill must report true once", k)
					}
				}
			}
			start(w, tidyWorker(&s))
			return nil
		})
		if want := k; k > 0 && (err != nil || len(tr.Steps) != want || len(s.got) != want) {
			t.Errorf("killed after step %d: %d steps, server got %q, %v", k, len(tr.Steps), s.got, err)
		}
	}
}

// Waiters see a killed process as dead immediately, however long its deferred calls still
// unwind.
func TestDoneAtDeath(t *testing.T) {
	var s server
	var waited time.Duration
	_, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
		a := w.Spawn(proc("slow", func(ctx context.Context, g *sim.Gate) error {
			defer time.Sleep(time.Minute)
			<-ctx.Done()
			return nil
		}))
		start(w, proc("parent", func(ctx context.Context, g *sim.Gate) error {
			time.Sleep(time.Second)
			w.Kill("slow")
			<-a.Done()
			waited = w.Now()
			if !errors.Is(a.Err(), sim.ErrKilled) {
				t.Errorf("Err is %v, want ErrKilled", a.Err())
			}
			w.Spawn(s.sender("slow", "the next of that name"))
			return s.send(ctx, g, "x")
		}))
		return nil
	})
	if err != nil || waited != time.Second {
		t.Errorf("waited until %v, want 1s (%v)", waited, err)
	}
}

// A successor of the same name does not inherit, and is not disturbed by, what
// its predecessor left parked.
func TestSuccessorOfTheSameName(t *testing.T) {
	var s server
	tr, err := sim.Run(context.Background(), single(scripted("proceed b#1")), func(w *sim.World) error {
		w.Spawn(proc("a", func(ctx context.Context, g *sim.Gate) error { return s.send(context.Background(), g, "old") }))
		w.Hooks.Step = func(st *sim.Step) {
			if st.Choice.Op.Actor == "b" && st.Choice.Op.Seq == 1 {
				w.Kill("a")
				start(w, s.sender("a", "new"))
			}
		}
		w.Spawn(s.sender("b", "x"))
		return nil
	})
	if want := []string{"b x", "a new"}; err != nil || !cmp.Equal(s.got, want) {
		t.Errorf("the server got %q (%v, %v), want %q", s.got, tr.Steps, err, want)
	}
}

// A process that exits takes all its goroutines with it, as a real one does.
func TestExitEndsEveryGoroutine(t *testing.T) {
	var s server
	var late error
	run(t, single(scripted()),
		proc("a", func(ctx context.Context, g *sim.Gate) error {
			go func() {
				time.Sleep(time.Second)
				late = s.send(context.Background(), g, "late")
			}()
			return s.send(ctx, g, "x")
		}),
		proc("b", func(ctx context.Context, g *sim.Gate) error {
			time.Sleep(time.Minute)
			return nil
		}))
	if !errors.Is(late, sim.ErrKilled) || len(s.got) != 1 {
		t.Errorf("after exit: %v, server got %q", late, s.got)
	}
}

// A loop that retries immediately and forever, in a dead process, must not stop time.
func TestDeadLoopsEnd(t *testing.T) {
	var s server
	stubborn := func(ctx context.Context, g *sim.Gate) {
		for s.send(context.Background(), g, "again") != nil {
		}
	}
	ended := false
	tr := run(t, single(scripted("proceed b#1")),
		proc("a", func(ctx context.Context, g *sim.Gate) error {
			defer func() { ended = true }()
			defer stubborn(ctx, g) // and once more while unwinding
			g.World().Kill("a")
			go stubborn(ctx, g)
			stubborn(ctx, g)
			return nil
		}),
		proc("b", func(ctx context.Context, g *sim.Gate) error {
			time.Sleep(time.Hour)
			return s.send(ctx, g, "x")
		}))
	if !ended || len(tr.Steps) != 1 || len(s.got) != 1 {
		t.Errorf("ended: %v; the server got %q", ended, s.got)
	}
}

func TestKillGroup(t *testing.T) {
	var s server
	var killed []sim.ActorID
	_, err := sim.Run(context.Background(), single(scripted("proceed x#1")), func(w *sim.World) error {
		w.Hooks.Step = func(*sim.Step) {
			if killed == nil {
				killed = w.KillGroup("node-1")
			}
		}
		member := func(id sim.ActorID, node string) sim.Process {
			p := s.sender(id, "1", "2")
			p.Group = node
			return p
		}
		start(w, member("z", "node-1"), member("b", "node-1"), member("c", "node-2"), s.sender("x", "1"))
		return nil
	})
	if want := []sim.ActorID{"b", "z"}; err != nil || !cmp.Equal(killed, want) {
		t.Errorf("killed %v (%v), want %v", killed, err, want)
	}
	if want := []string{"x 1", "c 1", "c 2"}; !cmp.Equal(s.got, want) {
		t.Errorf("the server got %q, want %q", s.got, want)
	}
}

// The effects of a hook on processes are complete before the next choice is offered. Otherwise the
// enabled choices would depend on the progress of goroutines.
func TestHooksSettleBeforeTheNextChoice(t *testing.T) {
	for seed := range uint64(200) {
		var s server
		_, err := sim.Run(context.Background(), single(strategy.NewRandom(seed, strategy.Settings{})), func(w *sim.World) error {
			w.Hooks.Step = func(st *sim.Step) {
				if st.Choice.Op.Actor == "b" {
					w.KillGroup("node-1")
				}
			}
			var ps []sim.Process
			for i := range 8 {
				p := s.sender(sim.ActorID(fmt.Sprint("a", i)), "1", "2", "3")
				p.Group = "node-1"
				ps = append(ps, p)
			}
			start(w, append(ps, s.sender("b", "kill"))...)
			return nil
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if last := s.got[len(s.got)-1]; len(s.got) < 25 && last != "b kill" {
			t.Fatalf("seed %d: %q reached the server after the group was killed", seed, last)
		}
	}
}

// SIGTERM reaches the handler of a process, which may still send; a process without one is
// killed, and Kill ends one whose handler does nothing.
func TestTerminate(t *testing.T) {
	for _, c := range []struct {
		name    string
		handler func(*sim.Gate) context.Context
		want    []string
	}{
		{"ends by itself", (*sim.Gate).Term, []string{"daemon before", "daemon after"}},
		{"has no handler", nil, []string{"daemon before"}},
		{"does nothing", func(g *sim.Gate) context.Context { g.OnTerm(func() {}); return context.Background() }, []string{"daemon before"}},
	} {
		var s server
		daemon := sim.Process{ID: "daemon", Run: func(ctx context.Context, g *sim.Gate) error {
			asked := context.Background()
			if c.handler != nil {
				asked = c.handler(g)
			}
			if err := s.send(ctx, g, "before"); err != nil {
				return err
			}
			select {
			case <-asked.Done():
			case <-ctx.Done():
				return ctx.Err()
			}
			return s.send(ctx, g, "after")
		}}
		operator := sim.Process{ID: "operator", Run: func(ctx context.Context, g *sim.Gate) error {
			time.Sleep(time.Second)
			a := g.World().Terminate("daemon")
			if a == nil || !a.Asked() {
				t.Errorf("%s: it was not asked", c.name)
				return nil
			}
			select {
			case <-a.Done():
			case <-time.After(30 * time.Second):
				g.World().Kill("daemon")
			}
			if g.World().Terminate("daemon") != nil {
				t.Errorf("%s: it is asked again, and does not exist", c.name)
			}
			return nil
		}}
		run(t, single(scripted()), daemon, operator)
		if !slices.Equal(s.got, c.want) {
			t.Errorf("%s: sent %q, want %q", c.name, s.got, c.want)
		}
	}
}
