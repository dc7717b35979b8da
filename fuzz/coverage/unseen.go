package coverage

import (
	"fmt"
	"math"
)

// Run is one run of a campaign: a seed of one of its sources.
type Run struct {
	Source int
	Seed   uint64
}

func (r Run) less(o Run) bool {
	return r.Source < o.Source || r.Source == o.Source && r.Seed < o.Seed
}

// Sightings records in which runs each kind was seen, as far as the estimate of what is unseen needs it:
// one run, two, or more. The result does not depend on the order of the calls of See; repeated calls
// count once.
type Sightings struct {
	runs, all uint64
	of        map[uint64]sighting
	once      int // kinds that only one run saw
}

// sighting is the first runs that saw a kind.
type sighting struct {
	runs [2]Run
	n    uint8 // SightingsMax: more than runs has
}

// SightingsMax is the number of runs of a kind that matter.
const SightingsMax = 3

// See records that a run saw a kind.
func (s *Sightings) See(kind uint64, run Run) {
	if s.of == nil {
		s.of = map[uint64]sighting{}
	}
	x := s.of[kind]
	switch {
	case x.n == 0:
		x.runs[0], x.n = run, 1
		s.once++
	case x.n == SightingsMax, run == x.runs[0], x.n == 2 && run == x.runs[1]:
		return
	case x.n == 1:
		x.runs[1], x.n = run, 2
		s.once--
	default:
		x.n = SightingsMax
	}
	s.of[kind] = x
}

// Ran records that so many more runs are done. kinds is the sum of the kinds that each of them saw.
func (s *Sightings) Ran(runs, kinds uint64) {
	s.runs += runs
	s.all += kinds
}

// Kinds returns the number of kinds that were seen.
func (s *Sightings) Kinds() int { return len(s.of) }

// Unseen is an estimate of the share of new kinds among what the next run sees, from 0 to 1, with a 95 %
// band.
type Unseen struct {
	Share, Low, High float64
	Unknown          string // why there is no estimate
}

// String returns a percentage with its band, or why there is none.
func (u Unseen) String() string {
	if u.Unknown != "" {
		return "not known: " + u.Unknown
	}
	return fmt.Sprintf("%s %% (%s to %s)", percent(u.Share), percent(u.Low), percent(u.High))
}

// percent formats a share with two significant digits.
func percent(share float64) string {
	if share *= 100; share >= 9.95 {
		return fmt.Sprintf("%.0f", share)
	}
	return fmt.Sprintf("%.2g", share)
}

// Unseen returns the estimate of Good and Turing. A sighting is a pair of a run and a kind that it saw; N
// is their number. The share of new kinds among what the next run sees is about a/N, where a is the
// number of kinds that exactly one run saw: they were new when that run came, and the next run is like it.
//
// The estimate assumes that runs are drawn independently from one distribution, as the scenarios of a
// space are by their seeds, and that the next run is, too. It does not hold for another space, another
// strategy or another mix of sources, nor for runs that are not drawn at random (schedules that
// are walked in order).
//
// The band is ± 1.96 √(Σ a(r)² + 2 Σ a(r, s)²) / N, where only r saw a(r) kinds, and only r and s saw
// a(r, s) kinds. If each of these were 1 it would be Esty's √(f1 + 2 f2) / n, without his − f1²/n,
// which makes it narrower. It is wider because a run in a rare situation sees several new kinds
// together: these are not independent. A normal law needs some sightings; so the upper end is at least
// 3/runs, the upper bound for what does not occur in so many runs. With fewer than RunsMin runs the
// share is unknown. TestUnseen measures how often the band holds the truth.
//
// Sources: Good: The population frequencies of species and the estimation of population
// parameters, Biometrika 40, 1953; Esty: A normal limit law for a nonparametric estimator of
// the coverage of a random sample, Annals of Statistics 11, 1983; Colwell et al.: sampling
// units with incidences, Journal of Plant Ecology 5, 2012; Böhme: STADS, ACM TOSEM 27, 2018.
// The bound without a normal law (McAllester and Schapire: On the convergence rate of
// Good-Turing estimators, COLT 2000) is ± 0.2 at a thousand runs, and says nothing here.
func (s *Sightings) Unseen() Unseen {
	if s.runs < RunsMin {
		return Unseen{Unknown: fmt.Sprintf("fewer than %d runs", RunsMin)}
	}
	if s.all == 0 {
		return Unseen{Unknown: "nothing was seen"}
	}
	all := float64(s.all)
	share, half := float64(s.once)/all, normal95*math.Sqrt(s.squares())/all
	return Unseen{Share: share, Low: max(0, share-half), High: min(1, max(share+half, none95/float64(s.runs)))}
}

// RunsMin is the number of runs that an estimate needs.
const RunsMin = 30

// squares returns Σ a(r)² + 2 Σ a(r, s)²: see Unseen.
func (s *Sightings) squares() (sum float64) {
	pieces := map[sighting]int{}
	for _, x := range s.of {
		if x.n == SightingsMax {
			continue
		}
		if x.n == 2 && x.runs[1].less(x.runs[0]) {
			x.runs[0], x.runs[1] = x.runs[1], x.runs[0]
		}
		pieces[x]++
	}
	whole := 0
	for x, n := range pieces {
		whole += int(x.n) * n * n
	}
	return float64(whole)
}

const (
	normal95 = 1.96
	none95   = 3 // the "rule of three": 0.05 = (1 - p)ⁿ at p of about 3/n
)
