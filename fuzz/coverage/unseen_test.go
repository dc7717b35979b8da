package coverage_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ipamsim/fuzz/coverage"
)

// world is a population of kinds that come in clumps, as situations do: who sees the first of
// a clump sees the others, too.
type world struct {
	of   []float64 // probability that a run sees a clump
	size []int     // kinds of it
}

func drawnWorld(clumps int, rng *rand.Rand) (w world) {
	for i := range clumps {
		w.of = append(w.of, min(0.9, 3*math.Pow(float64(i+1), -1.2)))
		w.size = append(w.size, 1+rng.IntN(4))
	}
	return w
}

func (w world) run(rng *rand.Rand) (kinds []uint64) {
	for c, p := range w.of {
		if rng.Float64() < p {
			for k := range w.size[c] {
				kinds = append(kinds, uint64(c)<<8|uint64(k))
			}
		}
	}
	return kinds
}

// unseen is what is true: of what a run is expected to see, how much nobody has seen.
func (w world) unseen(seen map[uint64]bool) float64 {
	all, missing := 0.0, 0.0
	for c, p := range w.of {
		all += p * float64(w.size[c])
		if !seen[uint64(c)<<8] {
			missing += p * float64(w.size[c])
		}
	}
	return missing / all
}

// TestUnseen: of worlds whose truth is known, the estimate's mean is right, and its band holds
// the truth about as often as it says.
func TestUnseen(t *testing.T) {
	for _, runs := range []int{30, 300, 1500} {
		within, estimated, truly := 0, 0.0, 0.0
		const trials = 100
		for seed := range trials {
			rng := rand.New(rand.NewPCG(uint64(seed), uint64(runs)))
			w := drawnWorld(1000, rng)
			var s coverage.Sightings
			seen := map[uint64]bool{}
			for r := range runs {
				kinds := w.run(rng)
				s.All += uint64(len(kinds))
				for _, k := range kinds {
					s.See(k, uint64(r))
					seen[k] = true
				}
			}
			u, truth := s.Unseen(), w.unseen(seen)
			if u.Low <= truth && truth <= u.High {
				within++
			}
			estimated, truly = estimated+u.Share/trials, truly+truth/trials
		}
		t.Logf("%d runs: %.4f unseen, estimated %.4f; the band held %d of %d", runs, truly, estimated, within, trials)
		if math.Abs(estimated-truly) > truly/8 {
			t.Errorf("%d runs: the estimate is %.4f on average, the truth %.4f", runs, estimated, truly)
		}
		if within < trials*88/100 {
			t.Errorf("%d runs: the band holds the truth in %d of %d, want 95 %%", runs, within, trials)
		}
	}
}

// TestSightingsOrder: neither order nor repetition matters, so that what two workers bring, or
// a worker brings again, counts as what one brings once.
func TestSightingsOrder(t *testing.T) {
	type one struct{ kind, run uint64 }
	rng := rand.New(rand.NewPCG(1, 1))
	var all []one
	for range 500 {
		all = append(all, one{rng.Uint64N(60), rng.Uint64N(40)})
	}
	count := func(list []one) (s coverage.Sightings) {
		s.All = 1000
		for _, x := range list {
			s.See(x.kind, x.run)
		}
		return s
	}
	want := count(all)
	for range 20 {
		again := append(slices.Clone(all), all[:100]...)
		rng.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		got := count(again)
		if got.Kinds() != want.Kinds() || got.Unseen() != want.Unseen() {
			t.Fatalf("%d kinds, %+v; want %d, %+v", got.Kinds(), got.Unseen(), want.Kinds(), want.Unseen())
		}
	}
	if u := (&coverage.Sightings{}).Unseen(); u != (coverage.Unseen{}) {
		t.Errorf("nothing was seen, and %+v is unseen", u)
	}
}
