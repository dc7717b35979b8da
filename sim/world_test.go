package sim_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// server is the other side of the gate in these tests: what reached it, in
// order. Each message adds one line "actor key".
type server struct {
	mu  sync.Mutex
	got []string
}

func (s *server) take(ctx context.Context, line string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, line)
	sim.Report(ctx, fmt.Sprintf("rv=%d", len(s.got)), nil)
	return nil
}

// send passes one message that can be hurt in every way a write can.
func (s *server) send(ctx context.Context, g *sim.Gate, key string) error {
	op := sim.Op{Kind: sim.Write, Key: key, Faults: sim.Of(sim.FailBefore, sim.LoseReply), Fails: 0b111}
	return g.Pass(ctx, op, func(ctx context.Context) error { return s.take(ctx, string(g.Actor())+" "+key) })
}

// sender is a process that sends the messages and exits.
func (s *server) sender(id sim.ActorID, keys ...string) sim.Process {
	return sim.Process{ID: id, Run: func(ctx context.Context, g *sim.Gate) error {
		for _, k := range keys {
			if err := s.send(ctx, g, k); err != nil {
				return err
			}
		}
		return nil
	}}
}

// script is a strategy that makes the given choices, in order, as soon as each is enabled, and
// otherwise continues serially. A choice is "outcome actor#n" ("crash a#2"), "elapse", or "=n" for
// the answer of a sizing decision; sizing decisions that are not scripted answer 0.
type script struct {
	wants  []string
	serial *strategy.Serial
	seen   []string // the choices of each decision, for tests of what is enabled
}

func scripted(wants ...string) *script { return &script{wants: wants, serial: strategy.NewSerial()} }

func (s *script) String() string      { return "script()" }
func (s *script) Begin(n uint64) bool { return n == 0 }

func (s *script) Pick(step int, enabled []sim.Choice) int {
	var menu []string
	for _, c := range enabled {
		menu = append(menu, name(c))
	}
	s.seen = append(s.seen, fmt.Sprint(menu))
	if len(s.wants) > 0 {
		for i, c := range enabled {
			if name(c) == s.wants[0] || sim.Sizing(enabled) && fmt.Sprintf("=%d", c.Level) == s.wants[0] {
				s.wants = s.wants[1:]
				return i
			}
		}
	}
	return s.serial.Pick(step, enabled)
}

func name(c sim.Choice) string {
	if c.Outcome == sim.Elapse {
		return "elapse"
	}
	return fmt.Sprintf("%s %s#%d", c.Outcome, c.Op.Actor, c.Op.Seq)
}

// everything is a budget that allows every fault.
var everything = sim.Budget{Allowed: ^sim.FaultSet(0), Max: 100}

// start spawns the processes and finishes the run when all have ended.
func start(w *sim.World, ps ...sim.Process) {
	var actors []*sim.Actor
	for _, p := range ps {
		actors = append(actors, w.Spawn(p))
	}
	go func() {
		for _, a := range actors {
			<-a.Done()
		}
		w.Finish()
	}()
}

// run schedules the processes to their end, which must be a good one.
func run(t testing.TB, o sim.Options, ps ...sim.Process) *sim.Trace {
	t.Helper()
	tr, err := sim.Run(context.Background(), o, func(w *sim.World) error {
		start(w, ps...)
		return nil
	})
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return tr
}

// single returns the options of a run with one strategy and a short watchdog.
func single(s sim.Strategy) sim.Options {
	return sim.Options{Strategy: s, Limits: sim.Limits{Stuck: 20 * time.Second}}
}

// proc is a process without group that the schedule may not kill.
func proc(id sim.ActorID, f func(context.Context, *sim.Gate) error) sim.Process {
	return sim.Process{ID: id, Run: f}
}
