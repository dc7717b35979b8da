package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b, within float64) bool { return math.Abs(a-b) <= within }

// Garwood's limits, as tables of epidemiology have them.
func TestRateBand(t *testing.T) {
	for _, x := range []struct{ count, low, high float64 }{{0, 0, 3.689}, {1, 0.025, 5.572}, {5, 1.623, 11.668}, {10, 4.795, 18.390}, {100, 81.36, 121.63}} {
		b := Rate{Count: x.count, Exposure: 1}.Band()
		if !near(b.Low, x.low, 0.01) || !near(b.High, x.high, 0.01) {
			t.Errorf("%g events: %+v, want %g to %g", x.count, b, x.low, x.high)
		}
	}
	if b, one := (Rate{Count: 100, Exposure: 1, Phi: 4}).Band(), (Rate{Count: 100, Exposure: 1}).Band(); b.High-b.Low < 1.9*(one.High-one.Low) {
		t.Errorf("four times the variance makes a band twice as wide: %+v and %+v", b, one)
	}
	if b := (Rate{}).Band(); b.Low != 0 || !math.IsInf(b.High, 1) {
		t.Errorf("without data anything is possible: %+v", b)
	}
}

// The remissions of 21 patients with 6-mercaptopurine: the textbook's example.
//
// Source: E. Freireich et al., Blood 21 (1963); Klein and Moeschberger, table 4.1.
func TestKaplanMeier(t *testing.T) {
	var all []Observation
	for _, x := range []float64{6, 6, 6, 7, 10, 13, 16, 22, 23} {
		all = append(all, Observation{Exit: x, Ended: true, Of: int32(len(all))})
	}
	for _, x := range []float64{6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35} {
		all = append(all, Observation{Exit: x, Of: int32(len(all))})
	}
	c := KaplanMeier(all)
	for i, want := range []struct{ at, observed, greenwood float64 }{
		{6, 0.857, 0.0764}, {7, 0.807, 0.0869}, {10, 0.753, 0.0963}, {13, 0.690, 0.1068}, {16, 0.627, 0.1141}, {22, 0.538, 0.1282}, {23, 0.448, 0.1346},
	} {
		s := c.steps[i]
		if observed := math.Exp(-s.hazard); s.at != want.at || !near(observed, want.observed, 0.001) {
			t.Errorf("at %g: %.3f last longer, want %.3f at %g", s.at, observed, want.observed, want.at)
		}
		if sd := math.Sqrt(c.variance(i)) * math.Exp(-s.hazard); !near(sd, want.greenwood, 0.02) {
			t.Errorf("at %g: standard error %.4f, Greenwood's is %.4f", s.at, sd, want.greenwood)
		}
	}
	if q := c.Quantile(0.5); q != 23 {
		t.Errorf("half of them by %g, want 23", q)
	}
	if b := c.Band(0.5); b.Low < 7 || b.Low > 16 || !math.IsInf(b.High, 1) {
		t.Errorf("%+v: want a band from about 13 that nothing bounds", b)
	}
	if q := c.Quantile(0.9); !math.IsNaN(q) {
		t.Errorf("nine of ten by %g: that was not seen", q)
	}
}

// What was first seen at an age says nothing of those that did not live so long.
func TestLateEntry(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var seen, naive []Observation
	for len(seen) < 20_000 {
		enter, exit := r.Float64()*200, r.ExpFloat64()*100
		if exit > enter { // a listing meets it
			seen = append(seen, Observation{Enter: enter, Exit: exit, Ended: true, Of: int32(len(seen))})
			naive = append(naive, Observation{Exit: exit, Ended: true, Of: int32(len(naive))})
		}
	}
	if q := KaplanMeier(seen).Quantile(0.5); !near(q, 100*math.Ln2, 5) {
		t.Errorf("half live %g, want %g", q, 100*math.Ln2)
	}
	if q := KaplanMeier(naive).Quantile(0.5); q < 120 {
		t.Errorf("half of those that were met live %g: the test shows nothing", q)
	}
}

// Observations that end together count as one.
func TestObservationsOfOneOwner(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var alone, together []Observation
	for of := range int32(100) {
		x := r.ExpFloat64()
		alone = append(alone, Observation{Exit: x, Ended: true, Of: of})
		for range 10 {
			together = append(together, Observation{Exit: x, Ended: true, Of: of})
		}
	}
	a, b := KaplanMeier(alone), KaplanMeier(together)
	if x, y := a.Band(0.5), b.Band(0.5); x.Low != y.Low || x.High != y.High {
		t.Errorf("a hundred observations: %+v, and ten times each: %+v", x, y)
	}
	if d := b.Design(); !near(d, 10, 2) {
		t.Errorf("a design effect of %g, want about 10", d)
	}
}

func TestDispersion(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var poisson, batches, expected []float64
	for range 500 {
		n := 0.0
		for x := r.ExpFloat64(); x < 10; x += r.ExpFloat64() {
			n++
		}
		poisson, batches, expected = append(poisson, n), append(batches, 3*n), append(expected, 10)
	}
	if phi := Dispersion(poisson, expected, 1); phi != 1 {
		t.Errorf("a Poisson process: %g", phi)
	}
	for i := range expected {
		expected[i] = 30
	}
	if phi := Dispersion(batches, expected, 1); !near(phi, 3, 0.5) {
		t.Errorf("three at a time: %g, want 3", phi)
	}
}

// One more draw lies in the band of few with a chance of 95 %: 191 of 201 ranks.
func TestCentralHoldsOneMore(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	held := 0
	for range 20_000 {
		draws := make([]float64, 200)
		for i := range draws {
			draws[i] = r.Float64()
		}
		if Central(draws).Holds(r.Float64()) {
			held++
		}
	}
	if share := float64(held) / 20_000; !near(share, 191./201, 0.004) {
		t.Errorf("%.4f, want %.4f", share, 191./201)
	}
}

// The mean of a drawn line varies as the mean of the walk does: for a trend that is known
// well, a third of the variance of the walk's end.
func TestLineForAWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	known := Trend{Steps: 1e6, SD: 1}
	squares, n := 0.0, 20_000.
	for range int(n) {
		mean := known.DrawLine(r, 100) / 2
		squares += mean * mean
	}
	if v := squares / n; !near(v, 100./3, 1.2) {
		t.Errorf("variance %.1f, want %.1f", v, 100./3)
	}
}

func TestDraws(t *testing.T) {
	var draws []float64
	for i := range 1000 {
		draws = append(draws, float64(999-i))
	}
	if b := Central(draws); b != (Band{24, 975}) {
		t.Errorf("%+v", b)
	}
	for x, want := range map[float64]float64{500: 1, 10: 0.024, -1: 0.002, 2000: 0.002} {
		if got := Rarity(draws, x); !near(got, want, 0.001) {
			t.Errorf("rarity of %g: %g, want %g", x, got, want)
		}
	}
}

func TestExponential(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	right, wrong := 0, 0
	for range 200 {
		var a, b []float64
		for range 200 {
			a = append(a, r.ExpFloat64())
			b = append(b, math.Pow(r.ExpFloat64(), 1.5))
		}
		if Exponential(a) {
			right++
		}
		if Exponential(b) {
			wrong++
		}
	}
	if right < 160 || wrong > 20 || Exponential([]float64{1, 2, 3}) {
		t.Errorf("%d of 200 exponential samples are taken for one, and %d of others", right, wrong)
	}
}
