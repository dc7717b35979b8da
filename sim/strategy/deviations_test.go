package strategy_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// For every strategy, the recorded bytes reproduce the run, pick by pick, and so do the exceptions
// that are recorded from that run.
func TestDeviationsRepeatAnyRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		inner := map[string]sim.Strategy{
			"anything": &anything{rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 200).Draw(t, "picks"), strategy.NewSerial()},
			"random":   strategy.NewRandom(seed, strategy.Settings{}),
			"timed":    strategy.NewTimed(seed, strategy.Settings{}),
			"stall":    strategy.NewStall(seed, strategy.Settings{}),
		}[rapid.SampledFrom([]string{"anything", "random", "timed", "stall"}).Draw(t, "strategy")]
		first := strategy.NewDeviated(inner)
		want := visit(t, first)
		rec := strategy.NewRecorder(strategy.NewDeviations(first.Bytes()))
		again := visit(t, rec)
		if again.Digest() != want.Digest() {
			sameSteps(t, again, want)
			t.Fatalf("the same steps under another schedule")
		}
		sparse := strategy.NewSparse(rec.Exceptions())
		sameSteps(t, visit(t, sparse), want)
		if err := sparse.Err(); err != nil {
			t.Fatalf("%v", err)
		}
	})
}

// Any bytes are a schedule, and conversion to exceptions and back loses nothing: the canonical
// bytes of the run reproduce it and do not change.
func TestAnyBytesAreDeviations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "schedule")
		first := strategy.NewDeviated(strategy.NewDeviations(data))
		want := visit(t, first)
		second := strategy.NewDeviated(strategy.NewDeviations(first.Bytes()))
		if got := visit(t, second); got.Digest() != want.Digest() || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("%x makes the run of %x, which makes another one or is written %x", data, first.Bytes(), second.Bytes())
		}
	})
}

// The default is that of Sparse: one departure is one exception, or two for a message that is
// delivered out of turn with a fault; holding a message changes no order.
func TestADeviationIsAnException(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := strategy.NewRecorder(strategy.NewDeviations([]byte{rapid.Byte().Draw(t, "gap") % 60, rapid.Byte().Draw(t, "pick") % 40}))
		visit(t, rec)
		x := rec.Exceptions()
		held := slices.ContainsFunc(x, func(e strategy.Exception) bool { return e.Outcome == sim.Delay })
		if len(x) > 2 || held && len(x) > 1 || len(x) == 2 && !x[1].Outcome.Fault() {
			t.Fatalf("one deviation makes %v", x)
		}
	})
}

// offer is n messages of n processes, and Elapse.
func offer(n int) (out []sim.Choice) {
	for i := range n {
		out = append(out, sim.Choice{Op: sim.Op{Actor: sim.ActorID(rune('a' + i%26)), Seq: 1 + i}})
	}
	return append(out, sim.Choice{Outcome: sim.Elapse})
}

// What the bytes mean, one by one.
func TestDeviationsByHand(t *testing.T) {
	long := append(bytes.Repeat([]byte{255, 0}, 2), 7, 1)
	tests := []struct {
		name     string
		schedule []byte
		at, n    int // decision, from 0, and number of messages
		want     int
	}{
		{"nothing: the default", nil, 0, 3, 0},
		{"at once", []byte{0, 2}, 0, 3, 2},
		{"after two", []byte{2, 1}, 1, 3, 0},
		{"after two", []byte{2, 1}, 2, 3, 1},
		{"and never again", []byte{2, 1}, 3, 3, 1}, // stays with the process that moved
		{"round and round", []byte{0, 6}, 0, 3, 2},
		{"half a pair", []byte{0}, 0, 3, 0},
		{"after 519", long, 519, 3, 1},
		{"after 256", []byte{255, 0, 0, 1}, 256, 3, 1},
		{"a crowd", []byte{0, 255, 1, 44}, 0, 600, 555},
		{"just a crowd", []byte{0, 255, 0, 0}, 0, 600, 255},
	}
	for _, tt := range tests {
		d, got := strategy.NewDeviations(tt.schedule), -1
		rec := strategy.NewDeviated(d)
		for i := range tt.at + 1 {
			got = rec.Pick(i, offer(tt.n))
		}
		if got != tt.want {
			t.Errorf("%s: decision %d is %d, want %d", tt.name, tt.at, got, tt.want)
		}
		if again := rec.Bytes(); len(again) > 0 && !bytes.Equal(again, tt.schedule) && tt.name != "round and round" {
			t.Errorf("%s: recorded %v, want %v", tt.name, again, tt.schedule)
		}
	}
}
