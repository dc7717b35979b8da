package strategy_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// play runs the programs, a process each, and returns the order in which their
// messages arrived. A program is a list of "GET x" and "PUT x"; "sleep" waits for
// 200 ms of virtual time. Processes are mortal, as the code under test is.
func play(t *testing.T, s sim.Strategy, programs map[sim.ActorID][]string) (order []string) {
	t.Helper()
	_, err := sim.Run(context.Background(), sim.Options{Strategy: s}, func(w *sim.World) error {
		var all []*sim.Actor
		for id, program := range programs {
			all = append(all, w.Spawn(sim.Process{ID: id, Mortal: true, Run: func(ctx context.Context, g *sim.Gate) error {
				for _, key := range program {
					if key == "sleep" {
						time.Sleep(200 * time.Millisecond)
						continue
					}
					op := sim.Op{Kind: sim.Read, Key: key, Request: &sim.Request{Verb: key[:3], Path: key[4:]}}
					if key[0] == 'P' {
						op.Kind = sim.Write
					}
					err := g.Pass(ctx, op, func(context.Context) error { order = append(order, string(id)+" "+key); return nil })
					if err != nil {
						return err
					}
				}
				return nil
			}}))
		}
		go finish(w, all)
		return nil
	})
	if err != nil {
		t.Fatalf("%v: %v", s, err)
	}
	return order
}

// rate is in which part of n seeds the order was as asked for.
func rate(t *testing.T, n uint64, make func(uint64) sim.Strategy, programs map[sim.ActorID][]string, hit func([]string) bool) float64 {
	t.Helper()
	hits := 0
	for seed := range n {
		if hit(play(t, make(seed), programs)) {
			hits++
		}
	}
	return float64(hits) / float64(n)
}

// at is the place of a message in an order.
func at(order []string, message string) int {
	for i, m := range order {
		if m == message {
			return i
		}
	}
	return -1
}

// PCT finds what needs d ordering constraints among n processes and k messages
// with probability at least 1/(n*k^(d-1)). The chain here needs exactly d: b and a
// take turns, d-1 changes after a start that must be b's.
func TestPCTBound(t *testing.T) {
	// d = 1: b's only message before a's. d = 2: a GET, b, a PUT. d = 3: the same with
	// another message of b after a's PUT, which no single change can bring about.
	tests := []struct {
		depth int
		a, b  []string
		want  []string
	}{
		{1, []string{"GET x"}, []string{"PUT x"}, []string{"b PUT x", "a GET x"}},
		{2, []string{"GET x", "PUT x"}, []string{"PUT y"}, []string{"a GET x", "b PUT y", "a PUT x"}},
		{3, []string{"GET x", "PUT x"}, []string{"PUT y", "PUT z"}, []string{"a GET x", "b PUT y", "a PUT x", "b PUT z"}},
	}
	for _, tt := range tests {
		programs := map[sim.ActorID][]string{"a": tt.a, "b": tt.b}
		hit := func(order []string) bool { return fmt.Sprint(order) == fmt.Sprint(tt.want) }
		k := len(tt.a) + len(tt.b)
		bound := 1 / (2 * math.Pow(float64(k), float64(tt.depth-1)))
		of := func(depth int) float64 { return rate(t, 1000, pctOf(depth, k), programs, hit) }
		// The bound is tight here: the measured values scatter around it.
		least := bound - 3*math.Sqrt(bound*(1-bound)/1000)
		if got := of(tt.depth); got < least {
			t.Errorf("depth %d: %.3f of the runs, want at least %.3f less three standard deviations", tt.depth, got, bound)
		}
		if tt.depth > 1 {
			if got := of(tt.depth - 1); got > 0 {
				t.Errorf("depth %d needs %d constraints, but %d found it in %.3f of the runs", tt.depth, tt.depth, tt.depth-1, got)
			}
		}
	}
}

// The example of the POS paper's introduction: which of two writes of one object comes first, if
// one process has much unrelated work before its write. In a random walk the idle process wins
// nearly always; with priorities that last until a conflict, the unrelated work does not matter.
func TestPOSBeatsRandom(t *testing.T) {
	long := []string{"GET a", "GET b", "GET c", "GET d", "GET e", "GET f", "GET g", "PUT x"}
	programs := map[sim.ActorID][]string{"long": long, "short": {"PUT x"}}
	hit := func(order []string) bool { return at(order, "long PUT x") < at(order, "short PUT x") }
	pos, walk := rate(t, 2000, parsed("pos"), programs, hit), rate(t, 2000, random, programs, hit)
	t.Logf("long before short in %.3f of the runs of pos, %.4f of random's", pos, walk)
	if pos < .08 || walk > .02 {
		t.Errorf("pos %.3f, random %.4f: want at least 0.08 and at most 0.02", pos, walk)
	}
}

// Between the two reads of one process ten writes of another must fall, each
// 200 ms after the last. Only a message that is held for seconds leaves room for
// them; priorities and coins do not.
func TestStallOpensWindows(t *testing.T) {
	var writer []string
	for i := range 12 {
		writer = append(writer, fmt.Sprintf("PUT %d", i), "sleep")
	}
	programs := map[sim.ActorID][]string{"reader": {"GET x", "GET y"}, "writer": writer}
	hit := func(order []string) bool { return at(order, "reader GET y")-at(order, "reader GET x") > 10 }
	for name, want := range map[string][2]float64{"stall": {.01, .2}, "random": {0, 0}, "pos": {0, 0}, "stress": {0, 0}} {
		if got := rate(t, 500, parsed(name), programs, hit); got < want[0] || got > want[1] {
			t.Errorf("%s: %.3f of the runs, want %v", name, got, want)
		}
	}
	textbook := func(seed uint64) sim.Strategy { return strategy.NewTextbookPCT(seed, 3, 26) }
	if got := rate(t, 500, textbook, programs, hit); got > 0 {
		t.Errorf("pct without freezes: %.3f of the runs, want none", got)
	}
}

// The choices of a portfolio follow its weights, and it reports them.
func TestPortfolioShares(t *testing.T) {
	drawn := map[string]int{}
	for seed := range uint64(2000) {
		s := strategy.NewPortfolio(seed, strategy.Settings{Mix: []strategy.Share{{Name: "random", Weight: 3}, {Name: "stall", Weight: 1}}})
		drawn[s.Strategy.String()[:5]]++
		if want := fmt.Sprintf("portfolio(seed=%d,%s)", seed, s.Strategy); s.String() != want {
			t.Fatalf("it calls itself %s, want %s", s, want)
		}
	}
	if n := drawn["stall"]; n < 450 || n > 550 || n+drawn["rando"] != 2000 {
		t.Errorf("drew %v, want 500 stalls and 1500 random walks", drawn)
	}
}
