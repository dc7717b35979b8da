package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// BenchmarkGatedStep is the price of one message with n processes parked at the
// gate, and of the digest of a long trace.
func BenchmarkGatedStep(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("parked=%d", n), func(b *testing.B) {
			o := sim.Options{Strategy: strategy.NewRandom(1, strategy.Settings{}), Limits: sim.Limits{Steps: b.N, Virtual: 1 << 62}}
			b.ReportAllocs()
			_, _ = sim.Run(context.Background(), o, func(w *sim.World) error {
				for i := range n {
					w.Spawn(proc(sim.ActorID(fmt.Sprintf("actor-%04d", i)), func(ctx context.Context, g *sim.Gate) error {
						for g.Pass(ctx, sim.Op{Key: "PATCH ippools/10.0.0.0-24"}, func(context.Context) error { return nil }) == nil {
						}
						return nil
					}))
				}
				return nil
			})
		})
	}
}

// BenchmarkWorld is the price of a bubble that does nothing.
func BenchmarkWorld(b *testing.B) {
	for b.Loop() {
		_, _ = sim.Run(context.Background(), single(strategy.NewSerial()), func(w *sim.World) error { w.Finish(); return nil })
	}
}

// BenchmarkDigest is the price of a digest per step of a long trace.
func BenchmarkDigest(b *testing.B) {
	tr := &sim.Trace{}
	for i := range 50_000 {
		tr.Steps = append(tr.Steps, &sim.Step{
			Decision: sim.Decision{Step: i, At: time.Duration(i) * 12345678, Pick: i % 7, Enabled: 9, Choice: sim.Choice{
				Op: sim.Op{Actor: "cni-add/web-2/net1", Seq: i, Key: "PATCH ippools/10.0.0.0-24"}}},
			Note: "200 rv=17",
		})
	}
	for b.Loop() {
		_ = tr.Digest()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(tr.Steps)), "ns/step")
}
