package strategy_test

import (
	"context"
	"testing"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// A process that polls without a pause is always ready. A held message becomes due nevertheless,
// and the run ends.
func TestStallEnds(t *testing.T) {
	for seed := range uint64(40) {
		o := sim.Options{Strategy: strategy.NewStall(seed, strategy.Settings{}), Limits: sim.Limits{Steps: 50_000}}
		_, err := sim.Run(context.Background(), o, func(w *sim.World) error {
			read := func(ctx context.Context, g *sim.Gate) error {
				return g.Pass(ctx, sim.Op{Kind: sim.Read, Key: "GET x"}, func(context.Context) error { return nil })
			}
			w.Spawn(sim.Process{ID: "reader", Mortal: true, Run: func(ctx context.Context, g *sim.Gate) error {
				for range 5 {
					if err := read(ctx, g); err != nil {
						return err
					}
				}
				w.Finish()
				return nil
			}})
			w.Spawn(sim.Process{ID: "poller", Run: func(ctx context.Context, g *sim.Gate) error {
				for {
					if err := read(ctx, g); err != nil {
						return err
					}
				}
			}})
			return nil
		})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
