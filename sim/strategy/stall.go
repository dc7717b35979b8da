package strategy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"ipamsim/sim"
)

// Stall holds a few messages for 0.3 to 28 s of virtual time, while all else goes
// on as Random would have it: a server that hangs on one request, a process that
// is swapped out between two. It is the best searcher for windows that many
// messages must fall into (README.md).
//
// Which ones: the n-th message of a kind of process ("cni-add", "ip-reconciler") is
// held with a probability of c/n, so that kinds which say little are held as often
// as those which say much, early messages more often than late ones, and none
// never. A message that directly follows a read of the same process is four times
// as likely as another: what the process has read grows old while it is held
// there, so a window between a check and an act opens nowhere else.
type Stall struct {
	seed   uint64
	walk   *Random
	rest   sim.Strategy // decides instead of the walk, if not nil
	elapse float64      // the walk's own, while nothing is held
	rng    *rand.Rand   // for the choice of targets; separate, so that they do not depend on the walk
	often  float64      // c
	kinds  map[string]int
	procs  map[Message]process // by sender, the Seq being 0
	held   map[Message]bool
	size   int // the rung of the Delay just picked, -1 if none was
}

// process is what Stall remembers of one that it has seen.
type process struct {
	seq  int  // sequence number of its latest message
	read bool // that message was a read, or informed the process
}

// NewStall makes a Stall; faults are Random's. With these c a usual run has one to
// four stalls.
func NewStall(seed uint64, s Settings) *Stall {
	walk, rng := NewRandom(seed, s), newRand(seed^0x57a11)
	return &Stall{
		seed: seed, walk: walk, elapse: walk.elapse, rng: rng, often: []float64{.1, .2, .4}[rng.IntN(3)],
		kinds: map[string]int{}, procs: map[Message]process{}, held: map[Message]bool{}, size: -1,
	}
}

// NewHeld makes a Stall in which all else goes on in the default order of Sparse, with
// exceptions: a run that fails in it needs no switches but its stalls.
func NewHeld(seed uint64, exceptions []Exception) *Stall {
	s := NewStall(seed, Settings{})
	s.rest = NewSparse(exceptions)
	return s
}

func (s *Stall) String() string { return fmt.Sprintf("stall(seed=%d)", s.seed) }

// Begin allows one run.
func (s *Stall) Begin(n uint64) bool { return n == 0 }

// Pick holds its target as soon as that appears, and continues the walk.
func (s *Stall) Pick(step int, enabled []sim.Choice) int {
	if sim.Sizing(enabled) {
		if s.size >= 0 {
			rung := s.size
			s.size = -1
			return rung
		}
		return s.others(step, enabled)
	}
	for i, c := range enabled {
		switch c.Outcome {
		case sim.Proceed:
			delete(s.held, MessageOf(c.Op))
		case sim.Delay:
			if s.aims(c.Op) {
				s.size = sim.Rung(stallFor(s.rng))
				s.held[MessageOf(c.Op)] = true
				return i
			}
		}
	}
	s.walk.elapse = s.elapse
	if len(s.held) > 0 {
		// A window in which only time passes shows nothing. But if time never passes here, the
		// message is held forever while another process polls without a pause.
		s.walk.elapse = .005
	}
	return s.others(step, enabled)
}

func (s *Stall) others(step int, enabled []sim.Choice) int {
	if s.rest != nil {
		return s.rest.Pick(step, enabled)
	}
	return s.walk.Pick(step, enabled)
}

// aims decides about a message that is seen for the first time.
//
// Code under test is mortal, the cluster's own controllers are not; those are held
// a quarter as often.
func (s *Stall) aims(op sim.Op) bool {
	sender := Message{Actor: op.Actor, Incarnation: op.Incarnation}
	before := s.procs[sender]
	if op.Draws > 0 || op.Seq <= before.seq {
		return false
	}
	s.procs[sender] = process{op.Seq, op.Kind == sim.Read || op.Kind == sim.Event}
	kind := op.Actor.Kind()
	s.kinds[kind]++
	chance := s.often / float64(s.kinds[kind])
	if !before.read {
		chance /= 4
	}
	if !op.Faults.Has(sim.Crash) {
		chance /= 4
	}
	return s.rng.Float64() < chance
}

// stallFor draws the duration of a stall: 0.3 to 28 s, uniform in orders of magnitude. Shorter
// delays are normal for servers; longer ones exceed deadlines of upstream (30 s for a list) and
// make calls fail correctly.
func stallFor(rng *rand.Rand) time.Duration {
	const least, most = .3, 28
	return time.Duration(least * math.Pow(most/least, rng.Float64()) * float64(time.Second))
}
