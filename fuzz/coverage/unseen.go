package coverage

import (
	"fmt"
	"math"
)

// Sightings are in which runs each kind was seen, as far as an estimate of what is unseen
// goes by: no run, one, two or more. They do not depend on the order in which they come, and one
// that comes twice counts once.
type Sightings struct {
	All  uint64 // in all runs together
	of   map[uint64]sighting
	once int
}

// sighting is the first runs in which a kind was seen.
type sighting struct {
	runs [2]uint64
	n    uint8 // SightingsMax: more than runs has
}

// SightingsMax is how many runs of one kind matter.
const SightingsMax = 3

// See takes in that a run, by a number of its own, saw a kind.
func (s *Sightings) See(kind, run uint64) {
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

// Kinds is how many were seen.
func (s *Sightings) Kinds() int { return len(s.of) }

// Unseen is an estimate of how much of what the next run sees nobody has seen, from 0 to 1,
// with a 95 % band. The zero value: nothing was seen at all.
type Unseen struct{ Share, Low, High float64 }

// String is a percentage with its band, "" if nothing was seen at all.
func (u Unseen) String() string {
	if u == (Unseen{}) {
		return ""
	}
	return fmt.Sprintf("%.2g %% (%.2g to %.2g)", 100*u.Share, 100*u.Low, 100*u.High)
}

// Unseen estimates by Good and Turing: the share of sightings that are of kinds which one run
// alone saw. It holds for runs that are drawn as those before; of another space, or another
// strategy, it says nothing.
//
// The band is Esty's, but kinds are not seen independently: a run that comes to a
// rare place sees several new kinds at once. So what one run alone saw, or the same two did, counts as one piece.
//
// Sources: Good: The population frequencies of species and the estimation of population
// parameters, Biometrika 40, 1953; Esty: A normal limit law for a nonparametric estimator of
// the coverage of a random sample, Annals of Statistics 11, 1983; Chao et al.: sampling units
// with incidences, Ecology 94, 2013; Böhme: STADS, ACM TOSEM 27, 2018.
func (s *Sightings) Unseen() Unseen {
	if s.All == 0 {
		return Unseen{}
	}
	all := float64(s.All)
	pieces := map[sighting]int{} // kinds that only one run saw, or only two did, by these
	for _, x := range s.of {
		if x.n < SightingsMax {
			x.runs = [2]uint64{min(x.runs[0], x.runs[1]), max(x.runs[0], x.runs[1])}
			pieces[x]++
		}
	}
	squares := 0 // of those of two runs twice, as in Esty's
	for x, n := range pieces {
		squares += int(x.n) * n * n
	}
	share := float64(s.once) / all
	half := normal95 * math.Sqrt(float64(squares)) / all
	return Unseen{share, max(0, share-half), min(1, max(share+half, none95/all))}
}

const (
	normal95 = 1.96
	none95   = 3 // of so many trials without one, a share of 3/n is the most that is likely
)
