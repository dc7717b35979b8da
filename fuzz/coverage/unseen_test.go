package coverage_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/fuzz/coverage"
)

// world is a population of kinds in clumps, as in real runs: a run that sees the first kind of a clump
// sees the others, too.
type world struct {
	of   []float64 // probability that a run sees a clump
	size []int     // number of its kinds
}

func drawnWorld(clumps int, steep float64, most int, rng *rand.Rand) (w world) {
	for i := range clumps {
		w.of = append(w.of, min(0.9, 3*math.Pow(float64(i+1), -steep)))
		w.size = append(w.size, 1+rng.IntN(most))
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

// unseen returns the true share: the expected share of new kinds among what a run sees.
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

// TestUnseen: for populations whose true share is known, the mean of the estimate is right, and the band
// holds the truth about as often as specified.
func TestUnseen(t *testing.T) {
	const trials = 100
	for _, x := range []struct {
		what   string
		clumps int
		steep  float64 // the n-th clump is seen as often as n to the power of -steep
		most   int     // kinds of a clump
		runs   int
	}{
		{"few runs", 1000, 1.2, 4, 30},
		{"some runs", 1000, 1.2, 4, 300},
		{"many runs", 1000, 1.2, 4, 1500},
		{"most is rare", 5000, 0.8, 4, 300},
		{"nearly all was seen", 40, 1.5, 4, 1000},
		{"kinds come alone", 1000, 1.2, 1, 300},
		{"kinds come in crowds", 1000, 1.2, 30, 300},
	} {
		within, estimated, truly := 0, 0.0, 0.0
		for seed := range trials {
			rng := rand.New(rand.NewPCG(uint64(seed), uint64(x.runs)))
			w := drawnWorld(x.clumps, x.steep, x.most, rng)
			u, truth := w.estimate(t, x.runs, rng)
			if u.Low <= truth && truth <= u.High {
				within++
			}
			estimated, truly = estimated+u.Share/trials, truly+truth/trials
		}
		t.Logf("%s: %.4f unseen, estimated %.4f; the band held %d of %d", x.what, truly, estimated, within, trials)
		if math.Abs(estimated-truly) > truly/8 {
			t.Errorf("%s: the estimate is %.4f on average, the truth %.4f", x.what, estimated, truly)
		}
		if within < trials*88/100 { // with 95 % that happens in one of 500 cases
			t.Errorf("%s: the band holds the truth in %d of %d, want 95 %%", x.what, within, trials)
		}
	}
}

// estimate returns the estimate after so many runs, and the true share.
func (w world) estimate(t *testing.T, runs int, rng *rand.Rand) (coverage.Unseen, float64) {
	var s coverage.Sightings
	seen := map[uint64]bool{}
	for r := range runs {
		kinds := w.run(rng)
		s.Ran(1, uint64(len(kinds)))
		for _, k := range kinds {
			s.See(k, coverage.Run{Seed: uint64(r)})
			seen[k] = true
		}
	}
	u := s.Unseen()
	if u.Unknown != "" || s.Kinds() != len(seen) || u.Low > u.Share || u.Share > u.High || u.Low < 0 || u.High > 1 {
		t.Fatalf("%d runs, %d kinds, want %d: %+v", runs, s.Kinds(), len(seen), u)
	}
	return u, w.unseen(seen)
}

// TestUnseenUnknown: there is no estimate from too few runs.
func TestUnseenUnknown(t *testing.T) {
	var s coverage.Sightings
	s.Ran(coverage.RunsMin-1, 5)
	if got := s.Unseen().String(); got != "not known: fewer than 30 runs" {
		t.Error(got)
	}
	s = coverage.Sightings{}
	s.Ran(coverage.RunsMin, 0)
	if got := s.Unseen().String(); got != "not known: nothing was seen" {
		t.Error(got)
	}
	s.Ran(1000-coverage.RunsMin, 2000)
	s.See(1, coverage.Run{Seed: 7})
	s.See(2, coverage.Run{Seed: 8})
	s.See(2, coverage.Run{Seed: 9})
	if got := s.Unseen().String(); got != "0.05 % (0 to 0.3)" { // 1/2000, and 3/1000
		t.Error(got)
	}
}

// TestSightingsOrder: order and repetition do not matter, so that sightings from several workers, or
// reported twice, count as from one worker.
func TestSightingsOrder(t *testing.T) {
	type one struct {
		kind uint64
		run  coverage.Run
	}
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) one {
			return one{rapid.Uint64Range(0, 20).Draw(t, "kind"), coverage.Run{Source: rapid.IntRange(0, 2).Draw(t, "source"), Seed: rapid.Uint64Range(0, 9).Draw(t, "seed")}}
		}), 0, 60).Draw(t, "sightings")
		runs := map[uint64]map[coverage.Run]bool{}
		for _, x := range all {
			if runs[x.kind] == nil {
				runs[x.kind] = map[coverage.Run]bool{}
			}
			runs[x.kind][x.run] = true
		}
		once := 0
		for _, of := range runs {
			if len(of) == 1 {
				once++
			}
		}
		count := func(list []one) *coverage.Sightings {
			s := &coverage.Sightings{}
			s.Ran(100, 1000)
			for _, x := range list {
				s.See(x.kind, x.run)
			}
			return s
		}
		want := count(all)
		got := count(rapid.Permutation(slices.Concat(all, all[:len(all)/2])).Draw(t, "again"))
		if want.Kinds() != len(runs) || got.Kinds() != len(runs) || got.Unseen() != want.Unseen() {
			t.Fatalf("%d kinds, %+v; want %d, %+v", got.Kinds(), got.Unseen(), len(runs), want.Unseen())
		}
		if share := float64(once) / 1000; want.Unseen().Share != share {
			t.Fatalf("%v, want %v", want.Unseen().Share, share)
		}
	})
}
