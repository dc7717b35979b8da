package por

import (
	"strings"

	"ipamsim/sim"
)

// Relation decides which pairs of steps depend on each other, that is, may have another effect
// in the other order. All other pairs may be exchanged.
//
// Part of it follows from the messages, part is learned from their observed effects: which
// process hears of which resource, and which processes move each other without a message. It
// only grows.
type Relation struct {
	hears map[listener]bool // a process has been informed of a resource, or of an object of it
	deaf  map[listener]bool // it is informed of other objects of the resource, and not of this one
	moves map[pair]bool     // processes that move each other
	vague map[effect]bool   // steps that write one thing or another although the same went before
	whole map[effect]bool   // steps that touch everything that is judged
	grown int
}

// listener is a process and what it hears of: a resource, or the path of an object.
type listener struct {
	actor sim.ActorID
	of    string
}

// pair is two processes, the lesser name first.
type pair struct{ a, b sim.ActorID }

// effect is what a step does, at any time.
type effect struct {
	Name
	outcome sim.Outcome
}

// NewRelation has learned nothing.
func NewRelation() *Relation {
	return &Relation{hears: map[listener]bool{}, deaf: map[listener]bool{}, moves: map[pair]bool{}, vague: map[effect]bool{}, whole: map[effect]bool{}}
}

// Learned is how many facts were.
func (r *Relation) Learned() int { return r.grown }

// informs reports whether a process hears of a write of an object.
func (r *Relation) informs(a sim.ActorID, resource, path string) bool {
	of := listener{a, path}
	return r.hears[listener{a, resource}] && (r.hears[of] || !r.deaf[of])
}

func (r *Relation) learnHears(o *Offer) {
	was := r.informs(o.Actor, o.Resource, o.Path)
	for _, of := range []string{o.Resource, o.Path} {
		if of != "" {
			r.hears[listener{o.Actor, of}] = true
		}
	}
	if !was && r.informs(o.Actor, o.Resource, o.Path) {
		r.grown++
	}
}

// learnDeaf learns which objects of a resource a process does not hear of: an object that was
// written between two other writes, if the process heard of both and, of the later one,
// immediately. A watch delivers in order. A process that lists again gives no evidence by what
// it does not hear.
func (r *Relation) learnDeaf(l *Log) {
	began := map[listener]int{} // the number of steps made when a process first heard of a resource
	for i := range l.Offers {
		o := &l.Offers[i]
		of := listener{o.Actor, o.Resource}
		if o.Kind == sim.Watch && o.Born > 0 {
			began[of] = len(l.Steps) + 1
		}
		if o.Kind != sim.Event || o.Born == 0 {
			continue
		}
		first, ok := began[of]
		if !ok {
			began[of] = o.Born
			continue
		}
		if by := &l.Offers[l.Steps[o.Born-1].Offer]; by.Kind != sim.Write || by.Path != o.Path {
			continue
		}
		for n := first; n < o.Born-1; n++ {
			if w := &l.Offers[l.Steps[n].Offer]; w.Kind == sim.Write && w.Resource == o.Resource && w.Actor != o.Actor {
				r.deaf[listener{o.Actor, w.Path}] = true
			}
		}
	}
}

// learnMoves reports whether that is new.
func (r *Relation) learnMoves(a, b sim.ActorID) bool {
	if b < a {
		a, b = b, a
	}
	if a == b || r.moves[pair{a, b}] {
		return false
	}
	r.moves[pair{a, b}] = true
	r.grown++
	return true
}

func (r *Relation) learnVague(d effect) {
	if !r.vague[d] {
		r.vague[d] = true
		r.grown++
	}
}

// moving are the processes that move a process or are moved by it.
func (r *Relation) moving(a, b sim.ActorID) bool {
	if b < a {
		a, b = b, a
	}
	return r.moves[pair{a, b}]
}

// kind holds everything that dependence is decided by.
//
// That a process hears of a write is no step of the schedule, but a part of the write that
// depends on the process: whether it waits, and what it has heard of since it last listened.
// What the writer does and the server keeps does not depend on that. So it is a separate
// event, which directly follows the write and belongs to the process that hears.
type kind struct {
	effect
	resource, path string
	informed       bool // Actor hears of a write
}

// served reports whether a server does what the message asks for.
func (k *kind) served() bool {
	return k.Kind != sim.Event && (k.outcome == sim.Proceed || k.outcome == sim.LoseReply || k.outcome == sim.Stale)
}

func (k *kind) writes() bool { return k.Kind == sim.Write && k.served() }

// part is the part that a step has in what another one does after it.
type part int8

const (
	none    part = iota
	byState      // as far as it left objects in another state
	whole
)

// part of step a in what b does after it. It has one if they are of one process, or of two that
// move each other; or if the first writes what the second is about, a part of it or a list that
// it stands in, or the other way round if the first is more than a read. A read changes nothing,
// so a write after it does what it does without it.
//
// What asks a server for an object, or for a change of it, sees of those who wrote it before
// the state that they left, and how often it was written: that is what a revision says.
func (r *Relation) part(a, b *kind) part {
	switch {
	case a.Actor == b.Actor:
		return whole
	case a.informed: // what came of it is at the gate
		return none
	case r.moving(a.Actor, b.Actor):
		return whole
	case b.informed: // the write is its cause
		return none
	case a.path == "" || b.path == "" || !a.served() || !b.served() || !a.writes() && !b.writes():
		return none
	case a.Kind == sim.Read:
		return none
	case !strings.HasPrefix(a.path, b.path) && !strings.HasPrefix(b.path, a.path):
		return none
	case a.writes() && (b.Kind == sim.Read || b.Kind == sim.Write) && !r.vague[a.effect] && !r.vague[b.effect]:
		return byState
	}
	return whole
}
