package strategy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"ipamsim/sim"
)

// Stall holds single messages of chosen processes for 0.3 to 28 s of virtual
// time, while all else goes on as Random would have it: a server that hangs on
// one request, a process that is swapped out between two. It is the best
// searcher for windows that many messages must fall into (SEARCH.md).
//
// Which messages: every kind of process ("cni-add", "ip-reconciler") is aimed at
// or not, then one process of the kind, early ones more often than late ones,
// then one of its messages. Half of the aims count only messages that directly
// follow a read of the same process. What it has read grows old while it is held
// there, so a window between a check and an act opens nowhere else.
type Stall struct {
	seed  uint64
	walk  *Random
	rng   *rand.Rand // for the aims: of its own, so that they do not depend on the walk
	kinds map[string]*target
	procs map[sim.ActorID]*process
	size  int // the rung of the Delay just picked, -1 if none was
}

// target is a kind of process and what is aimed at.
type target struct {
	aimed bool
	nth   int  // which process of the kind, counted from 0 as they appear
	op    int  // which of its messages
	after bool // count only messages that follow a read
	hold  time.Duration
	seen  int
}

// process is what Stall remembers of one that it has seen.
type process struct {
	of    *target // nil if it is none of the processes aimed at
	seq   int     // of its latest message
	read  bool    // that message was a read, or told the process something
	count int
}

// NewStall makes a Stall; faults are Random's.
func NewStall(seed uint64, s Settings) *Stall {
	return &Stall{
		seed: seed, walk: NewRandom(seed, s), rng: newRand(seed ^ 0x57a11),
		kinds: map[string]*target{}, procs: map[sim.ActorID]*process{}, size: -1,
	}
}

func (s *Stall) String() string { return fmt.Sprintf("stall(seed=%d)", s.seed) }

// Begin allows one run.
func (s *Stall) Begin(n uint64) bool { return n == 0 }

// Pick holds what was aimed at the moment it appears, and walks on.
func (s *Stall) Pick(step int, enabled []sim.Choice) int {
	if sim.Sizing(enabled) {
		if s.size >= 0 {
			rung := s.size
			s.size = -1
			return rung
		}
		return s.walk.Pick(step, enabled)
	}
	for i, c := range enabled {
		if c.Outcome != sim.Delay {
			continue
		}
		if t := s.hit(c.Op); t != nil {
			s.size = sim.Rung(t.hold)
			return i
		}
	}
	return s.walk.Pick(step, enabled)
}

// hit is the target if the message, seen for the first time, is the one aimed at.
func (s *Stall) hit(op sim.Op) *target {
	if op.Draws > 0 {
		return nil
	}
	p := s.procs[op.Actor]
	if p == nil {
		p = &process{of: s.target(op)}
		s.procs[op.Actor] = p
	}
	if op.Seq <= p.seq {
		return nil
	}
	informed := p.read
	p.seq, p.read = op.Seq, op.Kind == sim.Read || op.Kind == sim.Event
	t := p.of
	if t == nil || t.after && !informed {
		return nil
	}
	if p.count++; p.count-1 != t.op {
		return nil
	}
	return t
}

// target counts a new process and returns its kind's aim if this is the one.
//
// Code under test is mortal, the cluster's own controllers are not: with one half
// and one eighth, a usual run has one to three aims.
func (s *Stall) target(op sim.Op) *target {
	kind := kindOf(op.Actor)
	t := s.kinds[kind]
	if t == nil {
		chance := .125
		if op.Hurts.Has(sim.Crash) {
			chance = .5
		}
		t = &target{
			aimed: s.rng.Float64() < chance, after: s.rng.IntN(2) == 0,
			nth: geometric(s.rng), op: s.rng.IntN(12), hold: stallFor(s.rng),
		}
		if t.after {
			t.op = geometric(s.rng)
		}
		s.kinds[kind] = t
	}
	t.seen++
	if t.aimed && t.seen-1 == t.nth {
		return t
	}
	return nil
}

// kindOf is what a process is, without which one: "cni-add" of
// "cni-add/default/web-0/net1", "ip-reconciler" of "ip-reconciler~2".
func kindOf(id sim.ActorID) string {
	kind, _, _ := strings.Cut(string(id), "/")
	kind, _, _ = strings.Cut(kind, "~")
	return kind
}

// stallFor draws how long something stands still: 0.3 to 28 s, every order of
// magnitude alike. Shorter is what servers do anyway, longer runs into deadlines
// of upstream's own (30 s for a list) and makes calls fail as they should.
func stallFor(rng *rand.Rand) time.Duration {
	const least, most = .3, 28
	return time.Duration(least * math.Pow(most/least, rng.Float64()) * float64(time.Second))
}

// geometric draws n ≥ 0 with probability 0.7^n * 0.3.
func geometric(rng *rand.Rand) (n int) {
	for rng.Float64() < .7 {
		n++
	}
	return n
}
