package strategy

import (
	"fmt"
	"math/rand/v2"

	"ipamsim/sim"
)

// POS samples partial orders: every message gets a random priority when it appears, the highest
// goes first, and after each delivery the waiting messages that conflict with it draw new
// priorities. Orders that differ only in the interleaving of unrelated messages share their
// probability, so rare orders of related ones are more likely than in a random walk.
//
// Two messages conflict if they concern the same object, or one concerns the collection of the
// other's, and one of them writes. The delivery of a watch event does not conflict. Time passes as
// with Random.
//
// Source: Yuan, Yang, Gu: Partial Order Aware Concurrency Sampling, CAV 2018,
// algorithm 2.
type POS struct {
	seed   uint64
	rng    *rand.Rand
	dice   dice
	elapse float64
	prio   map[Message]float64
}

// NewPOS makes a sampler. How often time passes is drawn once per run.
func NewPOS(seed uint64, s Settings) *POS {
	rng := newRand(seed)
	p := &POS{seed: seed, rng: rng, dice: newDice(rng, s.Faults), prio: map[Message]float64{}}
	p.elapse = drawElapse(rng)
	return p
}

func (p *POS) String() string { return fmt.Sprintf("pos(seed=%d)", p.seed) }

// Begin allows one run.
func (p *POS) Begin(n uint64) bool { return n == 0 }

// Pick delivers the message of the highest priority.
func (p *POS) Pick(_ int, enabled []sim.Choice) int {
	if sim.Sizing(enabled) {
		return p.rng.IntN(len(enabled))
	}
	best, most := -1, 0.
	for i, c := range enabled {
		if c.Outcome != sim.Proceed {
			continue
		}
		e := MessageOf(c.Op)
		prio, ok := p.prio[e]
		if !ok {
			prio = p.rng.Float64()
			p.prio[e] = prio
		}
		if best < 0 || prio > most {
			best, most = i, prio
		}
	}
	if best < 0 || p.elapse > 0 && p.rng.Float64() < p.elapse {
		return len(enabled) - 1
	}
	p.delivered(enabled[best].Op, enabled)
	return p.dice.inject(enabled, best)
}

// delivered forgets the priorities of the message and of all that conflict with it.
func (p *POS) delivered(op sim.Op, enabled []sim.Choice) {
	delete(p.prio, MessageOf(op))
	for _, c := range enabled {
		if c.Outcome == sim.Proceed && conflict(op, c.Op) {
			delete(p.prio, MessageOf(c.Op))
		}
	}
}

// conflict reports whether the order of two messages can matter to either.
func conflict(a, b sim.Op) bool {
	return (a.Kind == sim.Write || b.Kind == sim.Write) && a.Kind != sim.Event && b.Kind != sim.Event && a.Request.Meets(b.Request)
}
