package strategy_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// shop is a world of three processes that write shared objects and their own.
func shop(w *sim.World) error {
	var all []*sim.Actor
	for _, id := range []sim.ActorID{"a", "b", "c"} {
		all = append(all, w.Spawn(sim.Process{ID: id, Run: func(ctx context.Context, g *sim.Gate) error {
			for _, path := range []string{"own/" + string(id), "shared/x", "own/" + string(id), "own/" + string(id), "shared/x"} {
				op := sim.Op{Kind: sim.Write, Key: path, Request: &sim.Request{Path: path}}
				if err := g.Pass(ctx, op, func(context.Context) error { return nil }); err != nil {
					return err
				}
			}
			return nil
		}}))
	}
	go finish(w, all)
	return nil
}

// The edges of a random walk keep the order of writes to shared objects, with fewer switches.
func TestOrderedKeepsWhatMatters(t *testing.T) {
	shared := func(tr *sim.Trace) (out []string) {
		for _, st := range tr.Steps {
			if strings.HasPrefix(st.Choice.Op.Key, "shared") {
				out = append(out, fmt.Sprint(st.Choice.Op))
			}
		}
		return out
	}
	run := func(s sim.Strategy) (*sim.Trace, []strategy.Exception) {
		rec := strategy.NewRecorder(s)
		tr, err := sim.Run(context.Background(), sim.Options{Strategy: rec}, shop)
		if err != nil {
			t.Fatal(err)
		}
		return tr, rec.Exceptions()
	}
	var before, after, reordered int
	plain, _ := run(strategy.NewSparse(nil))
	for seed := range uint64(50) {
		walk, many := run(strategy.NewRandom(seed, strategy.Settings{}))
		less, few := run(strategy.NewOrdered(strategy.Edges(walk.Steps, strategy.Related), nil))
		if !slices.Equal(shared(walk), shared(less)) {
			t.Errorf("seed %d: %v, ordered %v", seed, shared(walk), shared(less))
		}
		if !slices.Equal(shared(walk), shared(plain)) {
			reordered++
		}
		before, after = before+len(many), after+len(few)
	}
	if reordered < 40 || after >= before*2/3 {
		t.Errorf("%d of 50 walks in another order than the default; %d exceptions, ordered %d", reordered, before, after)
	}
}

// What never comes is not waited for longer than it took.
func TestOrderedWaitsNotForEver(t *testing.T) {
	silent := strategy.Message{Actor: "nobody", Seq: 1}
	a := strategy.Message{Actor: "a", Seq: 1}
	tr, err := sim.Run(context.Background(), sim.Options{Strategy: strategy.NewOrdered([]strategy.Edge{{First: silent, Then: a}}, nil)}, shop)
	if err != nil {
		t.Fatal(err)
	}
	var order []sim.ActorID
	for _, st := range tr.Steps {
		order = append(order, st.Choice.Op.Actor)
	}
	if n := slices.Index(order, "a"); n != 10 || len(order) != 15 {
		t.Errorf("%v: a goes as number %d", order, n)
	}
}
