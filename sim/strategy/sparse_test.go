package strategy_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// town is a world with everything that a schedule can contain: processes that send in parallel
// and from several goroutines, that draw, that the schedule kills and that start again under
// the same name, and one that sleeps.
func town(w *sim.World) error {
	op := sim.Op{Kind: sim.Write, Class: "put", Key: "PUT", Faults: sim.Of(sim.FailBefore, sim.LoseReply), Fails: 0b111}
	pass := func(ctx context.Context, g *sim.Gate) error {
		return g.Pass(ctx, op, func(ctx context.Context) error { sim.Report(ctx, "done", nil); return nil })
	}
	var open int
	spawn := func(p sim.Process) *sim.Actor { open++; return w.Spawn(p) }
	var all []*sim.Actor
	for _, id := range []sim.ActorID{"a", "b"} {
		all = append(all, spawn(sim.Process{ID: id, Mortal: true, Run: func(ctx context.Context, g *sim.Gate) error {
			done := make(chan error, 2)
			for range 2 {
				go func() { done <- pass(ctx, g) }()
			}
			for range 2 {
				<-done
			}
			n, err := g.Draw(ctx, "how long", 4)
			if err != nil {
				return err
			}
			time.Sleep(time.Duration(n) * 700 * time.Millisecond)
			return pass(ctx, g)
		}}))
	}
	all = append(all, spawn(sim.Process{ID: "cron", Run: func(ctx context.Context, g *sim.Gate) error {
		for range 3 {
			time.Sleep(time.Second)
			again := w.Spawn(sim.Process{ID: "job", Mortal: true, Run: func(ctx context.Context, g *sim.Gate) error {
				_ = pass(ctx, g)
				return pass(ctx, g)
			}})
			_ = pass(ctx, g)
			<-again.Done()
		}
		return nil
	}}))
	go finish(w, all)
	return nil
}

func visit(t interface{ Fatalf(string, ...any) }, s sim.Strategy) *sim.Trace {
	o := sim.Options{
		Strategy: s, Service: map[string]time.Duration{"put": 3 * time.Millisecond},
		Faults: sim.Budget{Allowed: sim.Of(sim.FailBefore, sim.LoseReply, sim.Crash), Max: 3},
	}
	tr, err := sim.Run(context.Background(), o, town)
	if err != nil {
		t.Fatalf("%v: %v", s, err)
	}
	return tr
}

// anything takes its picks from a list and, when that ends, delivers: it delays
// late, hurts, reorders and lets time pass as no strategy with a plan would.
type anything struct {
	picks []int
	rest  sim.Strategy
}

func (a *anything) String() string    { return "anything" }
func (a *anything) Begin(uint64) bool { return true }
func (a *anything) Pick(step int, enabled []sim.Choice) int {
	if len(a.picks) == 0 {
		return a.rest.Pick(step, enabled)
	}
	p := a.picks[0] % len(enabled)
	a.picks = a.picks[1:]
	return p
}

// sameSteps compares what happened, message by message, with its times, outcomes
// and notes. (Digests differ: two delays of one instant may be asked for in
// another order.)
func sameSteps(t interface{ Fatalf(string, ...any) }, got, want *sim.Trace) {
	for i := range max(len(got.Steps), len(want.Steps)) {
		if i >= len(got.Steps) || i >= len(want.Steps) {
			t.Fatalf("%d steps, recorded %d", len(got.Steps), len(want.Steps))
		}
		if g, w := got.Steps[i], want.Steps[i]; g.String() != w.String() {
			t.Fatalf("step %d:\n%s, recorded\n%s", i+1, g, w)
		}
	}
}

// For every strategy, the recorded exceptions reproduce the run, and recording that run gives the
// same exceptions.
func TestRecordedRunsRepeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		inner := map[string]sim.Strategy{
			"anything": &anything{rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 200).Draw(t, "picks"), strategy.NewSerial()},
			"random":   strategy.NewRandom(seed, strategy.Settings{}),
			"timed":    strategy.NewTimed(seed, strategy.Settings{}),
		}[rapid.SampledFrom([]string{"anything", "random", "timed"}).Draw(t, "strategy")]
		first := strategy.NewRecorder(inner)
		want := visit(t, first)
		sparse := strategy.NewSparse(first.Exceptions())
		second := strategy.NewRecorder(sparse)
		sameSteps(t, visit(t, second), want)
		if err := sparse.Err(); err != nil {
			t.Fatalf("%v", err)
		}
		third := strategy.NewSparse(second.Exceptions())
		sameSteps(t, visit(t, third), want)
		for _, e := range first.Exceptions() {
			for _, m := range []strategy.Message{e.Before, e.Message} {
				if again, err := strategy.ParseMessage(m.String()); m.Actor != "" && (err != nil || again != m) {
					t.Fatalf("%+v is written %s and read %+v, %v", m, m, again, err)
				}
			}
		}
	})
}

func put(actor sim.ActorID, seq int) strategy.Message {
	return strategy.Message{Actor: actor, Seq: seq}
}

// Two processes add one to a counter. Without exceptions they do it one after the
// other; one exception is enough to lose an update, whichever it is.
func TestOneExceptionLosesAnUpdate(t *testing.T) {
	tests := []struct {
		name  string
		x     []strategy.Exception
		want  int // the counter
		trace string
	}{
		{"the default", nil, 2, "a#1 a#2 b#1 b#2"},
		{"b goes before a's write", []strategy.Exception{{Before: put("a", 2), Message: put("b", 0)}}, 1, "a#1 b#1 b#2 a#2"},
		{"a's write is held", []strategy.Exception{{Message: put("a", 2), Outcome: sim.Delay, Level: 40}}, 1, "a#1 b#1 b#2 a#2"},
		{"a's write fails", []strategy.Exception{{Message: put("a", 2), Outcome: sim.FailBefore}}, 1, "a#1 a#2 b#1 b#2"},
		{"a has no third message", []strategy.Exception{{Before: put("a", 3), Message: put("b", 0)}}, 2, "a#1 a#2 b#1 b#2"},
		{"there is no c", []strategy.Exception{{Before: put("a", 2), Message: put("c", 0)}}, 2, "a#1 a#2 b#1 b#2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := strategy.NewSparse(tt.x)
			o := sim.Options{Strategy: s, Faults: sim.Budget{Allowed: sim.Of(sim.FailBefore), Max: 1}}
			n, tr := count(t, o, actor{id: "a"}, actor{id: "b"})
			var got string
			for i, st := range tr.Steps {
				if i > 0 {
					got += " "
				}
				got += fmt.Sprintf("%s#%d", st.Choice.Op.Actor, st.Choice.Op.Seq)
			}
			if n != tt.want || got != tt.trace {
				t.Errorf("counter %d after %s, want %d after %s", n, got, tt.want, tt.trace)
			}
			if used := len(s.Unused()) == 0; used != (tt.want == 1 || tt.x == nil) || used != (s.Err() == nil) {
				t.Errorf("unused: %v, %v", s.Unused(), s.Err())
			}
		})
	}
}

// Dropping any one exception leaves the others as good as they were: what remains
// of them is followed, unless its message does not come any more.
func TestExceptionsAreIndependent(t *testing.T) {
	r := strategy.NewRecorder(strategy.NewRandom(3, strategy.Settings{}))
	visit(t, r)
	all := r.Exceptions()
	if len(all) < 5 {
		t.Fatalf("only %d exceptions, nothing to see", len(all))
	}
	kept := 0
	for i := range all {
		s := strategy.NewSparse(slices.Delete(slices.Clone(all), i, i+1))
		visit(t, s)
		kept += len(all) - 1 - len(s.Unused())
	}
	if rate := float64(kept) / float64(len(all)*(len(all)-1)); rate < 0.8 {
		t.Errorf("with one dropped only %.0f %% of the others are followed", 100*rate)
	}
}

// After its last exception a Sparse may hand over to another strategy.
func TestTheRestIsAnothers(t *testing.T) {
	digests := map[uint64]bool{}
	for seed := range uint64(20) {
		s := strategy.NewSparse([]strategy.Exception{{Before: put("a", 1), Message: put("b", 0)}})
		s.Rest = strategy.NewRandom(seed, strategy.Settings{})
		tr := visit(t, s)
		if got := tr.Steps[0].Choice.Op.Actor; got != "b" {
			t.Errorf("seed %d: begins with %s", seed, got)
		}
		digests[tr.Digest()] = true
	}
	if len(digests) < 15 {
		t.Errorf("20 continuations made only %d runs", len(digests))
	}
}

func TestParseMessage(t *testing.T) {
	for _, bad := range []string{"", "#1", "a#", "a#0", "a#x", "a#1.2", "a#0.1", "a#2.x", "a b#1", "a#-1", "a#1#2"} {
		if m, err := strategy.ParseMessage(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, m)
		}
	}
}
