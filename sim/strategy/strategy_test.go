package strategy_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// actor is a process of these tests: it waits, reads the counter, and writes it
// back plus one. Nothing but the order of the messages decides the result.
type actor struct {
	id    sim.ActorID
	after time.Duration
}

// count runs the actors to their end and returns the counter.
func count(t *testing.T, o sim.Options, actors ...actor) (int, *sim.Trace) {
	t.Helper()
	counter := 0
	tr, err := sim.Run(context.Background(), o, func(w *sim.World) error {
		var all []*sim.Actor
		for _, a := range actors {
			all = append(all, w.Spawn(sim.Process{ID: a.id, Run: func(ctx context.Context, g *sim.Gate) error {
				time.Sleep(a.after)
				return increment(ctx, g, &counter)
			}}))
		}
		go finish(w, all)
		return nil
	})
	if err != nil {
		t.Fatalf("%v: %v", o.Strategy, err)
	}
	return counter, tr
}

func increment(ctx context.Context, g *sim.Gate, counter *int) error {
	var n int
	get := sim.Op{Kind: sim.Read, Class: "get", Request: &sim.Request{Verb: "GET"}, Faults: sim.Of(sim.FailBefore, sim.Stale), Fails: 0b11}
	if err := g.Pass(ctx, get, func(context.Context) error { n = *counter; return nil }); err != nil {
		return err
	}
	put := sim.Op{Kind: sim.Write, Class: "put", Request: &sim.Request{Verb: "PUT"}, Faults: sim.Of(sim.FailBefore, sim.LoseReply), Fails: 0b11}
	return g.Pass(ctx, put, func(context.Context) error { *counter = n + 1; return nil })
}

// lost is in how many of n seeds the update of one of two processes was lost.
func lost(t *testing.T, n uint64, make func(seed uint64) sim.Strategy, actors ...actor) (found int) {
	for seed := range n {
		if c, _ := count(t, sim.Options{Strategy: make(seed)}, actors...); c < len(actors) {
			found++
		}
	}
	return found
}

func serial(uint64) sim.Strategy { return strategy.NewSerial() }

func random(seed uint64) sim.Strategy { return strategy.NewRandom(seed, strategy.Settings{}) }

// timed is a quiet server: 2 ms.
func timed(seed uint64) sim.Strategy { return strategy.NewTimed(seed, strategy.Settings{}) }

// bad is a server with stragglers of 2 s and more.
func bad(seed uint64) sim.Strategy {
	return strategy.NewTimed(seed, strategy.Settings{Latency: map[string]strategy.Latency{
		"api": {Median: 2 * time.Millisecond, Spread: 0.5, Tail: 0.1, Slow: 2 * time.Second},
	}})
}

// parsed makes the strategy of that name.
func parsed(name string) func(uint64) sim.Strategy {
	return func(seed uint64) sim.Strategy {
		s, err := strategy.Parse(name, seed, strategy.Settings{})
		if err != nil {
			panic(err)
		}
		return s
	}
}

// pctOf is the paper's PCT, or with depth 0 ours.
func pctOf(depth, length int) func(uint64) sim.Strategy {
	if depth == 0 {
		return parsed("pct")
	}
	return func(seed uint64) sim.Strategy { return strategy.NewTextbookPCT(seed, depth, length) }
}

// Every strategy has a failure that it must find, and one that it must miss: if all found
// everything, the test could not distinguish them.
//
// Together is a plain lost update: both read before either writes. Apart is the same with the
// second process starting 3 s later, so that the first one's write must be held back, although
// it could go, for 3 s of virtual time.
func TestWhatEachStrategyFinds(t *testing.T) {
	together := []actor{{id: "alice"}, {id: "bob"}}
	apart := []actor{{id: "alice"}, {id: "bob", after: 3 * time.Second}}
	tests := []struct {
		name           string
		make           func(uint64) sim.Strategy
		together       [2]int // how many of 200 seeds: at least, at most
		apart          [2]int
		whatItIsGoodAt string
	}{
		{"serial", serial, [2]int{0, 0}, [2]int{0, 0}, "what the author had in mind"},
		{"random", random, [2]int{80, 160}, [2]int{0, 2}, "races between ready messages"},
		{"timed", timed, [2]int{80, 195}, [2]int{0, 0}, "what usually happens"},
		{"timed with a heavy tail", bad, [2]int{80, 195}, [2]int{5, 40}, "windows that are a matter of time"},
		{"pos", parsed("pos"), [2]int{40, 100}, [2]int{0, 0}, "rare orders of related messages"},
		{"textbook pct", pctOf(2, 4), [2]int{25, 100}, [2]int{0, 0}, "few changes in runs of known length"},
		{"pct", pctOf(0, 0), [2]int{1, 20}, [2]int{1, 20}, "the same in runs of any length, with freezes"},
		{"delay", parsed("delay"), [2]int{1, 20}, [2]int{1, 10}, "small deviations from round robin"},
		{"swarm", parsed("swarm"), [2]int{60, 180}, [2]int{1, 20}, "what needs something to be absent"},
		{"portfolio", parsed("portfolio"), [2]int{60, 180}, [2]int{1, 20}, "not to be blind to any of these"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if n := lost(t, 200, tt.make, together...); n < tt.together[0] || n > tt.together[1] {
				t.Errorf("the plain lost update in %d of 200 runs, want %v", n, tt.together)
			}
			if n := lost(t, 200, tt.make, apart...); n < tt.apart[0] || n > tt.apart[1] {
				t.Errorf("the 3 s window in %d of 200 runs, want %v", n, tt.apart)
			}
		})
	}
}

// The same seed walks the same way, another one another way.
func TestSeedsDecide(t *testing.T) {
	for _, name := range []string{"random", "timed"} {
		digests := map[uint64]bool{}
		for seed := range uint64(20) {
			once := func() uint64 {
				s, err := strategy.Parse(name, seed, strategy.Settings{})
				if err != nil {
					t.Fatal(err)
				}
				_, tr := count(t, sim.Options{Strategy: s}, actor{id: "a"}, actor{id: "b"}, actor{id: "c"})
				return tr.Digest()
			}
			d := once()
			if d != once() {
				t.Errorf("%s, seed %d: two runs differ", name, seed)
			}
			digests[d] = true
		}
		if len(digests) < 15 {
			t.Errorf("%s: 20 seeds made only %d different runs", name, len(digests))
		}
	}
}

func TestParse(t *testing.T) {
	if !slices.IsSorted(strategy.Names()) {
		t.Errorf("names are not sorted: %v", strategy.Names())
	}
	for _, name := range strategy.Names() {
		s, err := strategy.Parse(name, 7, strategy.Settings{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := s.String(); !strings.HasPrefix(got, name+"(") || name != "serial" && !strings.Contains(got, "seed=7") {
			t.Errorf("%s calls itself %q: not enough to rebuild it", name, got)
		}
		if !s.Begin(0) || s.Begin(1) {
			t.Errorf("%s: a seed is one run, so Begin(0) and not Begin(1)", name)
		}
	}
	_, err := strategy.Parse("radnom", 7, strategy.Settings{})
	for _, want := range append(strategy.Names(), `"radnom"`) {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not name %s", err, want)
		}
	}
}

// Timed takes its latencies from the class of the message, else from "api".
func TestTimedLatency(t *testing.T) {
	fixed := func(d time.Duration) strategy.Latency { return strategy.Latency{Median: d} }
	tests := []struct {
		name     string
		latency  map[string]strategy.Latency
		get, put time.Duration
	}{
		{"by class", map[string]strategy.Latency{"get": fixed(time.Second), "put": fixed(10 * time.Millisecond), "api": fixed(time.Minute)}, time.Second, 10 * time.Millisecond},
		{"api for the rest", map[string]strategy.Latency{"get": fixed(time.Second), "api": fixed(20 * time.Millisecond)}, time.Second, 20 * time.Millisecond},
		{"longer than the ladder", map[string]strategy.Latency{"api": fixed(time.Hour)}, 50 * time.Second, 50 * time.Second},
		{"a tail without end", map[string]strategy.Latency{"api": {Tail: 1, Slow: math.MaxInt64}}, 50 * time.Second, 50 * time.Second},
		{"a tail that whoever asks waits for", map[string]strategy.Latency{"api": {Tail: 1, Slow: 28*time.Second - 1}}, 28 * time.Second, 28 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, tr := count(t, sim.Options{Strategy: strategy.NewTimed(1, strategy.Settings{Latency: tt.latency})}, actor{id: "a"})
			get, put := tr.Steps[0].At, tr.Steps[1].At-tr.Steps[0].At-1
			rung := func(d time.Duration) time.Duration { return sim.Ladder[sim.Rung(d)] }
			if get != rung(tt.get) || put != rung(tt.put) {
				t.Errorf("get took %v, put %v; want the rungs of %v and %v", get, put, tt.get, tt.put)
			}
		})
	}
}

// The latencies drawn have the distribution that was asked for.
func TestTimedDistribution(t *testing.T) {
	settings := strategy.Settings{Latency: map[string]strategy.Latency{"api": {Median: 10 * time.Millisecond, Spread: 0.5, Tail: 0.1, Slow: 2 * time.Second}}}
	var took []time.Duration
	for seed := range uint64(1000) {
		_, tr := count(t, sim.Options{Strategy: strategy.NewTimed(seed, settings)}, actor{id: "a"})
		took = append(took, tr.Steps[0].At)
	}
	slices.Sort(took)
	if m := took[500]; m < 9*time.Millisecond || m > 16*time.Millisecond {
		t.Errorf("median %v, want 10ms to 15ms (a tenth are stragglers, and a rung rounds up)", m)
	}
	slow := 0
	for _, d := range took {
		if d >= 2*time.Second {
			slow++
		}
	}
	if slow < 70 || slow > 130 {
		t.Errorf("%d stragglers in 1000, want about 100", slow)
	}
}

// Faults come at the configured rates, and only for messages that can express them.
func TestFaultRates(t *testing.T) {
	tests := []struct {
		rates strategy.FaultRates
		want  string // outcomes of a's messages
	}{
		{strategy.FaultRates{}, "proceed proceed"},
		{strategy.FaultRates{sim.LoseReply: 1}, "proceed lose-reply"},
		{strategy.FaultRates{sim.Stale: 1}, "stale proceed"},
		{strategy.FaultRates{sim.FailBefore: 1}, "fail-before"}, // and the process gives up
		{strategy.FaultRates{sim.Crash: 1, sim.Gone: 1}, "proceed proceed"},
	}
	for _, tt := range tests {
		for _, make := range []func(uint64, strategy.Settings) sim.Strategy{
			func(n uint64, s strategy.Settings) sim.Strategy { return strategy.NewRandom(n, s) },
			func(n uint64, s strategy.Settings) sim.Strategy { return strategy.NewTimed(n, s) },
		} {
			s := make(3, strategy.Settings{Faults: tt.rates})
			o := sim.Options{Strategy: s, Faults: sim.Budget{Allowed: ^sim.FaultSet(0), Max: 10}}
			_, tr := count(t, o, actor{id: "a"})
			var got []string
			for _, st := range tr.Steps {
				got = append(got, st.Choice.Outcome.String())
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("%v at %v (-want +got):\n%s", s, tt.rates, diff)
			}
		}
	}
}

// Without rates a run draws its own: many runs have no faults of a kind, and none has so many that
// the calls fail before any race happens.
func TestFaultRatesDrawn(t *testing.T) {
	var with, faults, messages int
	for seed := range uint64(300) {
		o := sim.Options{Strategy: random(seed), Faults: sim.Budget{Allowed: ^sim.FaultSet(0), Max: 1000}}
		var as []actor
		for i := range 20 {
			as = append(as, actor{id: sim.ActorID(fmt.Sprint("a", i))})
		}
		_, tr := count(t, o, as...)
		n := 0
		for _, st := range tr.Steps {
			if st.Choice.Outcome.Fault() {
				n++
			}
		}
		messages += len(tr.Steps)
		if faults += n; n > 0 {
			with++
		}
	}
	if with < 100 || with > 280 {
		t.Errorf("%d of 300 runs had faults: want many with and many without", with)
	}
	if rate := float64(faults) / float64(messages); rate < 0.005 || rate > 0.04 {
		t.Errorf("%.3f faults a message, want one or two in a hundred", rate)
	}
}

// A replay repeats a run of actors that it has never seen, and reports where it diverged.
func TestReplay(t *testing.T) {
	actors := []actor{{id: "alice"}, {id: "bob"}}
	for seed := range uint64(30) {
		n, tr := count(t, sim.Options{Strategy: bad(seed)}, actors...)
		replay := strategy.NewReplay(tr.Schedule())
		again, tr2 := count(t, sim.Options{Strategy: replay}, actors...)
		if n != again || tr.Digest() != tr2.Digest() || replay.Err() != nil {
			t.Errorf("seed %d: counter %d then %d, digests %x and %x, %v", seed, n, again, tr.Digest(), tr2.Digest(), replay.Err())
		}
	}

	_, tr := count(t, sim.Options{Strategy: bad(1)}, actors...)
	full := tr.Schedule()
	tests := []struct {
		name     string
		schedule []int
		actors   []actor
		want     string
	}{
		{"too short", full[:len(full)-1], actors, "the schedule ends here"},
		{"too long", append(slices.Clone(full), 0), actors, fmt.Sprintf("ended after %d of %d decisions", len(full), len(full)+1)},
		{"another scenario", full, actors[:1], "diverged after step"},
		{"impossible pick", append([]int{99}, full[1:]...), actors, "picks 99 of 5"},
		{"negative pick", append([]int{-1}, full[1:]...), actors, "picks -1 of 5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			replay := strategy.NewReplay(tt.schedule)
			count(t, sim.Options{Strategy: replay}, tt.actors...)
			if err := replay.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want ...%s...", err, tt.want)
			}
		})
	}
}

// Serial finishes one process before it begins the next, also when the first
// has to wait for a slow server.
func TestSerial(t *testing.T) {
	o := sim.Options{Strategy: strategy.NewSerial(), Service: map[string]time.Duration{"put": time.Second}}
	_, tr := count(t, o, actor{id: "b"}, actor{id: "a"}, actor{id: "c", after: 10 * time.Second})
	var got []string
	for _, s := range tr.Steps {
		got = append(got, string(s.Choice.Op.Actor)+" "+s.Choice.Op.Key)
	}
	// b's GET goes while a's PUT is still being served.
	want := []string{"a GET", "b GET", "a PUT", "b PUT", "c GET", "c PUT"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// finish ends a world when all of these have ended.
func finish(w *sim.World, all []*sim.Actor) {
	for _, a := range all {
		<-a.Done()
	}
	w.Finish()
}
