package por

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"ipamsim/sim"
)

// Plan is the schedule of a run.
type Plan struct {
	Moves []Move
	// Random is the seed of the choices after the last move: any order and few faults. 0: a
	// process runs as long as it can, and there are no faults.
	Random uint64 `json:",omitempty"`
}

// Guide is the strategy of a run that begins with the moves of a plan. Time passes when no
// message can go. It logs all messages and steps.
type Guide struct {
	moves  []Move
	rng    *rand.Rand // nil: a plan that is not random
	faults sim.Budget
	log    Log
	here   []waiting // messages that wait, the oldest first
	turn   sim.ActorID
	lost   bool
}

// waiting is a message at the gate.
type waiting struct {
	offer            int
	actor            sim.ActorID
	incarnation, seq int
}

// NewGuide returns the strategy of one run in which a schedule may choose faults.
func NewGuide(p Plan, faults sim.Budget) *Guide {
	g := &Guide{moves: p.Moves, faults: faults, log: Log{Plan: p}}
	if p.Random != 0 {
		g.rng = rand.New(rand.NewPCG(p.Random, 0))
	}
	return g
}

func (g *Guide) String() string { return fmt.Sprintf("guide(%d moves)", len(g.moves)) }

// Begin allows one run.
func (g *Guide) Begin(n uint64) bool { return n == 0 }

// Log completes the log after the run: the trace has the time of each step.
func (g *Guide) Log(trace *sim.Trace, end time.Duration) *Log {
	l := &g.log
	for i := range l.Steps {
		l.Steps[i].At = trace.Steps[i].At
	}
	l.End = end
	return l
}

// Wrote records the state in which the current step left an object.
func (g *Guide) Wrote(object string, state []byte) {
	if n := len(g.log.Steps); n > 0 {
		g.log.Steps[n-1].Write(object, state)
	}
}

// Write records the state in which a step left an object.
func (s *Step) Write(object string, state []byte) {
	sum := sha256.Sum256(state)
	s.Wrote = append(s.Wrote, Wrote{object, hex.EncodeToString(sum[:8])})
}

// Pick makes the next move.
func (g *Guide) Pick(_ int, enabled []sim.Choice) int {
	if sim.Sizing(enabled) {
		s := &g.log.Steps[len(g.log.Steps)-1]
		return max(0, slices.IndexFunc(enabled, func(c sim.Choice) bool { return c.Level == s.Level }))
	}
	g.recordOffers(enabled)
	if made := len(g.log.Steps); made < len(g.moves) && !g.lost {
		m := g.moves[made]
		if i := g.find(enabled, m); i >= 0 {
			g.log.Followed++
			g.take(enabled[i], m.Level)
			return i
		}
		if slices.ContainsFunc(enabled, func(c sim.Choice) bool { return c.Outcome == sim.Proceed }) {
			g.lost = true
		}
	}
	i, level := g.usual(enabled), 0
	if g.rng != nil {
		i, level = g.any(enabled)
	}
	if enabled[i].Outcome != sim.Elapse {
		g.take(enabled[i], level)
	}
	return i
}

// usual chooses the oldest message of the process that went last, or of another if that has
// none that can go.
func (g *Guide) usual(enabled []sim.Choice) int {
	if i := g.oldest(enabled, g.turn); i >= 0 {
		return i
	}
	for _, c := range enabled {
		if c.Outcome == sim.Proceed {
			return g.oldest(enabled, c.Op.Actor)
		}
	}
	return len(enabled) - 1
}

// oldest is the index of a process's oldest message that can go, or -1.
func (g *Guide) oldest(enabled []sim.Choice, a sim.ActorID) int {
	for _, w := range g.here {
		if w.actor != a {
			continue
		}
		if i := w.place(enabled, sim.Proceed); i >= 0 {
			return i
		}
	}
	return -1
}

// place is the index of the choice with an outcome of the message, or -1.
func (w *waiting) place(enabled []sim.Choice, o sim.Outcome) int {
	return slices.IndexFunc(enabled, func(c sim.Choice) bool { return c.Outcome == o && w.is(c) })
}

func (w *waiting) is(c sim.Choice) bool {
	return c.Outcome != sim.Elapse && c.Op.Seq == w.seq && c.Op.Incarnation == w.incarnation && c.Op.Actor == w.actor
}

// any chooses a random message that can go; one in thirty gets a fault.
func (g *Guide) any(enabled []sim.Choice) (i, level int) {
	var ready, hurt []int
	for i, c := range enabled {
		switch {
		case c.Outcome == sim.Proceed:
			ready = append(ready, i)
		case c.Outcome.Fault():
			hurt = append(hurt, i)
		}
	}
	if len(ready) == 0 {
		return len(enabled) - 1, 0
	}
	i = ready[g.rng.IntN(len(ready))]
	if len(hurt) > 0 && g.rng.IntN(30) == 0 {
		i = hurt[g.rng.IntN(len(hurt))]
	}
	switch c := enabled[i]; c.Outcome {
	case sim.Proceed:
		level = g.rng.IntN(max(c.Op.Draws, 1))
	case sim.FailBefore, sim.LoseReply:
		if ways := slices.Collect(g.faults.WaysOf(&c.Op, c.Outcome).All()); len(ways) > 0 {
			level = ways[g.rng.IntN(len(ways))]
		}
	}
	return i, level
}

// recordOffers records which messages are new and which were withdrawn.
func (g *Guide) recordOffers(enabled []sim.Choice) {
	made := len(g.log.Steps)
	g.here = slices.DeleteFunc(g.here, func(w waiting) bool {
		gone := !slices.ContainsFunc(enabled, w.is)
		if gone {
			g.log.Offers[w.offer].Gone = made
		}
		return gone
	})
	var came []sim.Choice
	for _, c := range enabled[:len(enabled)-1] {
		known := func(w waiting) bool { return w.is(c) }
		if !slices.ContainsFunc(g.here, known) && (len(came) == 0 || came[len(came)-1].Op.Seq != c.Op.Seq || came[len(came)-1].Op.Actor != c.Op.Actor) {
			came = append(came, c)
		}
	}
	slices.SortStableFunc(came, sim.Simultaneous)
	for _, c := range came {
		g.here = append(g.here, waiting{len(g.log.Offers), c.Op.Actor, c.Op.Incarnation, c.Op.Seq})
		g.log.Offers = append(g.log.Offers, g.offer(c, made))
	}
}

func (g *Guide) offer(c sim.Choice, made int) Offer {
	o := Offer{
		Name: Name{Actor: c.Op.Actor, Kind: c.Op.Kind, About: c.Op.About()}, Hurts: g.faults.Of(c.Op), Draws: c.Op.Draws,
		Fails: g.faults.WaysOf(&c.Op, sim.FailBefore), Loses: g.faults.WaysOf(&c.Op, sim.LoseReply),
		Sent: c.Op.Sent, Due: c.Due, Born: made, Gone: -1,
	}
	if r := c.Op.Request; r != nil {
		o.Resource, o.Path = r.Resource, r.Path
	}
	return o
}

// find is the index of a move among the choices, or -1.
func (g *Guide) find(enabled []sim.Choice, m Move) int {
	nth := m.Nth
	for _, w := range g.here {
		if g.log.Offers[w.offer].Name != m.Name {
			continue
		}
		if nth > 0 {
			nth--
			continue
		}
		return w.place(enabled, m.Outcome)
	}
	return -1
}

// take records a move.
func (g *Guide) take(c sim.Choice, level int) {
	i := slices.IndexFunc(g.here, func(w waiting) bool { return w.is(c) })
	g.log.Steps = append(g.log.Steps, Step{Offer: g.here[i].offer, Outcome: c.Outcome, Level: level})
	g.here = slices.Delete(g.here, i, i+1)
	if c.Outcome == sim.Proceed {
		g.turn = c.Op.Actor
	}
}
