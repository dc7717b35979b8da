package kube_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"ipamsim/sim"
	"ipamsim/sim/way"
)

// actor is what the one simulated process of a test gets.
type actor struct {
	*cluster
	gate *sim.Gate
	ctx  context.Context
	conf *rest.Config
	mine kubernetes.Interface // with its own transport
	dyn  dynamic.Interface
}

// hurt is a strategy that delivers every message immediately, with a fault for the first message
// whose key begins with a prefix.
type hurt struct {
	key     string
	outcome sim.Outcome
	way     way.Way
	done    bool
}

func (h *hurt) String() string    { return "hurt " + h.key }
func (h *hurt) Begin(uint64) bool { h.done = false; return true }

func (h *hurt) Pick(_ int, enabled []sim.Choice) int {
	if sim.Sizing(enabled) {
		return max(0, slices.IndexFunc(enabled, func(c sim.Choice) bool { return c.Level == int(h.way) }))
	}
	for i, c := range enabled {
		if !h.done && c.Outcome == h.outcome && h.key != "" && strings.HasPrefix(c.Op.Key, h.key) {
			h.done = true
			return i
		}
	}
	for i, c := range enabled {
		if c.Outcome == sim.Proceed {
			return i
		}
	}
	return len(enabled) - 1 // nothing to deliver: let time pass
}

// simulate runs f as one process of a world under a strategy.
func simulate(t testing.TB, s sim.Strategy, f func(a *actor)) (*sim.Trace, string) {
	t.Helper()
	run, err := store.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer run.End()
	s.Begin(0)
	var digest string
	trace, err := sim.Run(context.Background(), sim.Options{
		Strategy: s, Limits: sim.Limits{Stuck: 20 * time.Second},
		Faults: sim.Budget{Allowed: sim.Of(sim.FailBefore, sim.LoseReply, sim.Stale, sim.Drop, sim.Gone), Max: 1},
	}, func(w *sim.World) error {
		c := open(run)
		w.Cleanup(c.Close)
		w.Hooks.Settle = run.Pump
		w.Hooks.End = func() { digest, _ = run.Digest() }
		w.Hooks.Panic = func(_ sim.ActorID, v any, stack string) { t.Errorf("%v\n%s", v, stack) }
		w.Spawn(sim.Process{ID: "actor", Run: func(ctx context.Context, g *sim.Gate) error {
			defer w.Finish()
			f(newActor(ctx, c, g))
			return nil
		}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if testing.Verbose() {
		var b strings.Builder
		_ = trace.Print(&b)
		t.Log("\n" + b.String())
	}
	return trace, digest
}

func newActor(ctx context.Context, c *cluster, g *sim.Gate) *actor {
	a := &actor{cluster: c, gate: g, ctx: ctx, conf: configOf(c, g)}
	a.mine, a.dyn = must(kubernetes.NewForConfig(a.conf)), must(dynamic.NewForConfig(a.conf))
	return a
}
