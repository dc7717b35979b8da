package sim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// The strategy, and nothing else, decides which message goes first.
func TestOrderIsTheStrategys(t *testing.T) {
	tests := []struct {
		script []string
		want   string
	}{
		{[]string{"proceed a#1", "proceed a#2", "proceed b#1"}, "a 1, a 2, b 1, b 2"},
		{[]string{"proceed b#1", "proceed b#2", "proceed a#1"}, "b 1, b 2, a 1, a 2"},
		{[]string{"proceed b#1", "proceed a#1", "proceed b#2", "proceed a#2"}, "b 1, a 1, b 2, a 2"},
	}
	for _, tt := range tests {
		var s server
		run(t, single(scripted(tt.script...)), s.sender("a", "1", "2"), s.sender("b", "1", "2"))
		if got := strings.Join(s.got, ", "); got != tt.want {
			t.Errorf("script %q: the server got %q, want %q", tt.script, got, tt.want)
		}
	}
}

// The choices are sorted by actor, message and outcome, in whatever order the messages came.
func TestChoicesAreSorted(t *testing.T) {
	var s server
	st := scripted()
	o := single(st)
	o.Faults = everything
	run(t, o, s.sender("b", "x"), sim.Process{ID: "a", Mortal: true, Run: func(ctx context.Context, g *sim.Gate) error {
		return s.send(ctx, g, "x")
	}})
	want := "[proceed a#1 delay a#1 fail-before a#1 lose-reply a#1 crash a#1 proceed b#1 delay b#1 fail-before b#1 lose-reply b#1 elapse]"
	if st.seen[0] != want {
		t.Errorf("choices\n%s\nwant\n%s", st.seen[0], want)
	}
}

func TestSameScheduleSameDigest(t *testing.T) {
	once := func(seed uint64) (*sim.Trace, string) {
		var s server
		o := single(strategy.NewRandom(seed, strategy.Settings{}))
		o.Faults = everything
		tr := run(t, o, s.sender("a", "1", "2", "3"), s.sender("b", "1", "2", "3"), s.sender("c", "1", "2", "3"))
		return tr, strings.Join(s.got, ", ")
	}
	digests := map[uint64]string{}
	for seed := range uint64(50) {
		tr, got := once(seed)
		again, _ := once(seed)
		if tr.Digest() != again.Digest() {
			t.Errorf("seed %d: digests %x and %x", seed, tr.Digest(), again.Digest())
		}
		if other, ok := digests[tr.Digest()]; ok && other != got {
			t.Errorf("one digest for %q and %q", other, got)
		}
		digests[tr.Digest()] = got
	}
	if len(digests) < 40 {
		t.Errorf("50 seeds gave %d different runs", len(digests))
	}
}

// What each outcome means for the client and for the server.
func TestOutcomes(t *testing.T) {
	tests := []struct {
		script  []string
		client  string // what Pass returned
		arrived bool
		step    string
	}{
		{[]string{"proceed a#1"}, "<nil>", true, `1 0.000000000 0/6 proceed a#1 "PUT x" "stale=false"`},
		{[]string{"fail-before a#1", "=0"}, "fail-before level 0 err <nil>", false, `1 0.000000000 0/3 fail-before a#1 "PUT x" "fail-before"`},
		{[]string{"fail-before a#1", "=2"}, "fail-before level 2 err <nil>", false, `1 0.000000000 2/3 fail-before.2 a#1 "PUT x" "fail-before"`},
		{[]string{"lose-reply a#1"}, "lose-reply level 0 err <nil>", true, `1 0.000000000 3/6 lose-reply a#1 "PUT x" "stale=false"`},
		{[]string{"stale a#1"}, "<nil>", true, `1 0.000000000 4/7 stale a#1 "PUT x" "stale=true"`},
		{[]string{"drop a#1"}, "drop level 0 err <nil>", false, `1 0.000000000 4/7 drop a#1 "PUT x" "drop"`},
		{[]string{"gone a#1"}, "gone level 0 err <nil>", false, `1 0.000000000 4/7 gone a#1 "PUT x" "gone"`},
		{[]string{"crash a#1"}, "sim: process killed", false, `1 0.000000000 4/6 crash a#1 "PUT x" ""`},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.script, " "), func(t *testing.T) {
			outcome, err := sim.ParseOutcome(strings.Fields(tt.script[0])[0])
			if err != nil {
				t.Fatal(err)
			}
			var client string
			arrived := false
			o := single(scripted(tt.script...))
			o.Faults = everything
			hurts := sim.Of(sim.FailBefore, sim.LoseReply)
			if outcome != sim.Proceed && outcome != sim.Crash {
				hurts |= sim.Of(outcome)
			}
			tr := run(t, o, sim.Process{ID: "a", Mortal: true, Run: func(ctx context.Context, g *sim.Gate) error {
				err := g.Pass(ctx, sim.Op{Key: "PUT x", Faults: hurts, Fails: 0b111}, func(ctx context.Context) error {
					arrived = true
					sim.Report(ctx, fmt.Sprintf("stale=%v", sim.IsStale(ctx)), nil)
					return nil
				})
				client = fmt.Sprint(err)
				if f := (*sim.Fault)(nil); errors.As(err, &f) {
					client = fmt.Sprintf("%s level %d err %v", f.Outcome, f.Level, f.Err)
				}
				return nil
			}})
			if client != tt.client {
				t.Errorf("the client got %q, want %q", client, tt.client)
			}
			if arrived != tt.arrived {
				t.Errorf("arrived: %v, want %v", arrived, tt.arrived)
			}
			if diff := cmp.Diff(tt.step, tr.Steps[0].String()); diff != "" {
				t.Errorf("step (-want +got):\n%s", diff)
			}
		})
	}
}

// A lost reply hides the server's own error from the process, but the server side can read it.
func TestLoseReplyKeepsTheServersError(t *testing.T) {
	conflict := errors.New("conflict")
	var got error
	o := single(always(sim.LoseReply))
	o.Faults = everything
	run(t, o, proc("a", func(ctx context.Context, g *sim.Gate) error {
		got = g.Pass(ctx, sim.Op{Faults: sim.Of(sim.LoseReply)}, func(context.Context) error { return conflict })
		return nil
	}))
	if f := (*sim.Fault)(nil); !errors.As(got, &f) || f.Err != conflict || errors.Is(got, conflict) {
		t.Errorf("got %#v, want a Fault that holds, and does not wrap, %v", got, conflict)
	}
}

// Faults stop when the budget is used up, and only allowed ones are offered.
func TestFaultBudget(t *testing.T) {
	tests := []struct {
		budget sim.Budget
		want   int
	}{
		{sim.Budget{}, 0},
		{sim.Budget{Allowed: sim.Of(sim.LoseReply), Max: 2}, 2},
		{sim.Budget{Allowed: sim.Of(sim.LoseReply), Max: 100}, 5},
		{sim.Budget{Allowed: sim.Of(sim.LoseReply), Max: 100, Until: 1}, 1}, // the first message is sent at 0
		{sim.Budget{Allowed: sim.Of(sim.LoseReply), Max: 100, Only: []string{"no such message"}}, 0},
		{sim.Budget{Allowed: sim.Of(sim.Stale), Max: 100}, 0},
	}
	for _, tt := range tests {
		var s server
		o := single(always(sim.LoseReply))
		o.Faults = tt.budget
		tr := run(t, o, proc("a", func(ctx context.Context, g *sim.Gate) error {
			for range 5 {
				_ = s.send(ctx, g, "x")
			}
			return nil
		}))
		faults := 0
		for _, step := range tr.Steps {
			if step.Choice.Outcome.Fault() {
				faults++
			}
		}
		if faults != tt.want {
			t.Errorf("budget %+v: %d faults, want %d", tt.budget, faults, tt.want)
		}
	}
}

// A client that gives up withdraws its parked message. Until then it waits, and the withdrawal
// is reported.
func TestDeadlineWhileParked(t *testing.T) {
	var s server
	var got error
	var withdrawn []sim.Op
	waited := map[time.Duration]bool{}
	tr := run(t, single(scripted("delay a#1", "=59")), proc("a", func(ctx context.Context, g *sim.Gate) error {
		short, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		w := g.World()
		w.Hooks.Withdrawn = func(op sim.Op) { withdrawn = append(withdrawn, op) }
		for _, at := range []time.Duration{9 * time.Second, 11 * time.Second} {
			time.AfterFunc(at, func() { waited[at] = w.Waits(func(op sim.Op) bool { return op.Actor == "a" }) })
		}
		got = s.send(short, g, "x")
		time.Sleep(10 * time.Minute)
		return nil
	}))
	if !errors.Is(got, context.DeadlineExceeded) {
		t.Errorf("the client got %v, want its deadline", got)
	}
	if len(s.got)+len(tr.Steps) > 0 {
		t.Errorf("a message that was given up arrived: %q\n%v", s.got, tr.Steps)
	}
	if len(withdrawn) != 1 || withdrawn[0].Actor != "a" || !waited[9*time.Second] || waited[11*time.Second] {
		t.Errorf("withdrawn: %v; waited: %v", withdrawn, waited)
	}
}

// A caller whose context has ended does not park.
func TestDeadlineBeforeParking(t *testing.T) {
	var s server
	tr := run(t, single(scripted()), proc("a", func(ctx context.Context, g *sim.Gate) error {
		over, cancel := context.WithCancel(ctx)
		cancel()
		if err := s.send(over, g, "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		return s.send(ctx, g, "y")
	}))
	if tr.Steps[0].Choice.Op.Seq != 1 || len(s.got) != 1 {
		t.Errorf("steps %v, want y as message 1", tr.Steps)
	}
}

// If a context ends between the choice of its message and the delivery, the run must not hang, and
// client and server must agree on the outcome.
func TestDeadlineBetweenPickAndDelivery(t *testing.T) {
	for range 200 {
		var s server
		var got error
		st := &cancelling{script: scripted()}
		run(t, single(st), proc("a", func(ctx context.Context, g *sim.Gate) error {
			ctx, st.cancel = context.WithCancel(ctx)
			got = s.send(ctx, g, "x")
			return nil
		}))
		if arrived := len(s.got) == 1; arrived != (got == nil) {
			t.Fatalf("arrived: %v, but the client got %v", arrived, got)
		}
	}
}

// cancelling ends the client's context as soon as it has picked its message.
type cancelling struct {
	*script
	cancel func()
}

func (c *cancelling) Pick(step int, enabled []sim.Choice) int {
	p := c.script.Pick(step, enabled)
	if enabled[p].Outcome == sim.Proceed {
		c.cancel()
	}
	return p
}

// A held group's messages stay where they are, its clients' patience does not.
func TestHoldIsAPartition(t *testing.T) {
	var s server
	var first error
	var second time.Duration
	_, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
		p := sim.Process{ID: "a", Group: "node-1", Run: func(ctx context.Context, g *sim.Gate) error {
			time.Sleep(2 * time.Second)
			short, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			first = s.send(short, g, "lost")
			err := s.send(ctx, g, "patient")
			second = w.Now()
			return err
		}}
		start(w, p, s.sender("b", "x"), proc("operator", func(context.Context, *sim.Gate) error {
			time.Sleep(time.Second)
			w.Hold("node-1")
			w.Hold("node-1") // holds nest
			time.Sleep(time.Minute)
			w.Release("node-1")
			time.Sleep(time.Minute)
			w.Release("node-1")
			return nil
		}))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(first, context.DeadlineExceeded) {
		t.Errorf("the impatient message: %v, want its deadline", first)
	}
	if want := []string{"b x", "a patient"}; !cmp.Equal(s.got, want) {
		t.Errorf("the server got %q, want %q", s.got, want)
	}
	if second.Truncate(time.Second) != 121*time.Second {
		t.Errorf("the patient message arrived at %v, want 2m1s, when the partition healed", second)
	}
}

// Hold works on one actor as well.
func TestHoldOneActor(t *testing.T) {
	var s server
	tr, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
		w.Hold("a")
		w.Hooks.Step = func(*sim.Step) { w.Release("a") }
		start(w, s.sender("a", "x"), s.sender("b", "x"))
		return nil
	})
	if want := []string{"b x", "a x"}; err != nil || !cmp.Equal(s.got, want) {
		t.Errorf("the server got %q (%v, %v), want %q", s.got, tr.Steps, err, want)
	}
}

// Draw is the only way to do something at random: its answer is a decision.
func TestDraw(t *testing.T) {
	var got []int
	tr := run(t, single(scripted("proceed a#1", "=2", "proceed a#2", "=0")), proc("a", func(ctx context.Context, g *sim.Gate) error {
		for _, n := range []int{3, 5, 1} {
			d, err := g.Draw(ctx, "which", n)
			if err != nil {
				return err
			}
			got = append(got, d)
		}
		return nil
	}))
	if !cmp.Equal(got, []int{2, 0, 0}) {
		t.Errorf("drew %v, want [2 0 0]", got)
	}
	if want := `1 0.000000000 2/3 proceed.2 a#1 "DRAW which" "2"`; tr.Steps[0].String() != want {
		t.Errorf("step %s, want %s", tr.Steps[0], want)
	}
}

// A partition stops messages on the network but not steps on the process's own machine; a pause
// stops both.
func TestHoldLetsLocalStepsPass(t *testing.T) {
	for _, tt := range []struct {
		name       string
		stop, back func(*sim.World, string)
		want       time.Duration
	}{
		{"partition", (*sim.World).Hold, (*sim.World).Release, time.Second},
		{"pause", (*sim.World).Pause, (*sim.World).Resume, time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var local, remote time.Duration
			_, err := sim.Run(context.Background(), single(scripted()), func(w *sim.World) error {
				tt.stop(w, "node-1")
				start(w, sim.Process{ID: "a", Group: "node-1", Run: func(ctx context.Context, g *sim.Gate) error {
					time.AfterFunc(time.Minute, func() { tt.back(w, "node-1") })
					time.Sleep(time.Second)
					note := func(at *time.Duration) func(context.Context) error {
						return func(context.Context) error { *at = w.Now().Truncate(time.Second); return nil }
					}
					if err := g.Pass(ctx, sim.Op{Kind: sim.Local, Key: "STOP containers"}, note(&local)); err != nil {
						return err
					}
					return g.Pass(ctx, sim.Op{Kind: sim.Write, Key: "PATCH status"}, note(&remote))
				}})
				return nil
			})
			if err != nil || local != tt.want || remote != time.Minute {
				t.Errorf("stopped containers at %v and wrote at %v (%v), want %v and 1m0s", local, remote, err, tt.want)
			}
		})
	}
}

// The schedule chooses the way of a fault among those that the message has and the budget
// allows. One that allows none is no fault of the message.
func TestWays(t *testing.T) {
	for _, tt := range []struct {
		script []string
		ways   sim.Ways
		want   string
	}{
		{[]string{"fail-before a#1", "=2"}, 0, "fail-before 2"},
		{[]string{"lose-reply a#1", "=5"}, 0, "lose-reply 5"},
		{[]string{"lose-reply a#1", "=5"}, sim.Way(5), "lose-reply 5"}, // and it was not asked
		{[]string{"fail-before a#1"}, sim.Way(1) | sim.Way(9), "fail-before 1"},
		{[]string{"lose-reply a#1"}, sim.Way(1), "<nil>"},
	} {
		o := single(scripted(tt.script...))
		o.Faults = sim.Budget{Allowed: sim.Of(sim.FailBefore, sim.LoseReply), Max: 1, Ways: tt.ways}
		var got string
		run(t, o, sim.Process{ID: "a", Run: func(ctx context.Context, g *sim.Gate) error {
			op := sim.Op{Key: "PUT x", Faults: sim.Of(sim.FailBefore, sim.LoseReply), Fails: 0b111, Loses: sim.Way(4) | sim.Way(5)}
			err := g.Pass(ctx, op, func(context.Context) error { return nil })
			got = fmt.Sprint(err)
			if f := (*sim.Fault)(nil); errors.As(err, &f) {
				got = fmt.Sprint(f.Outcome, " ", f.Level)
			}
			return nil
		}})
		if got != tt.want {
			t.Errorf("%v of ways %b: %q, want %q", tt.script, tt.ways, got, tt.want)
		}
	}
}

// The end of a connection withdraws the messages that are parked on it, and no others.
func TestCut(t *testing.T) {
	o := single(always(sim.Proceed))
	o.Service = map[string]time.Duration{"slow": time.Minute}
	got := make([]string, 2)
	run(t, o, sim.Process{ID: "a", Run: func(ctx context.Context, g *sim.Gate) error {
		links := []int{g.NewLink(), g.NewLink()}
		var all sync.WaitGroup
		for i, link := range links {
			all.Go(func() {
				got[i] = fmt.Sprint(g.Pass(ctx, sim.Op{Key: "GET x", Class: "slow", Link: link}, func(context.Context) error { return nil }))
			})
		}
		time.Sleep(time.Second)
		g.Cut(links[1])
		all.Wait()
		return nil
	}})
	if got[0] != "<nil>" || got[1] != "sim: injected drop" {
		t.Errorf("got %q", got)
	}
}
