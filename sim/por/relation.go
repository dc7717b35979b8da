package por

import (
	"strings"

	"ipamsim/sim"
)

// Relation decides which pairs of steps depend on each other, that is, may have another effect
// in the other order. All other pairs may be exchanged.
//
// Part of it follows from the messages. The other part is learned from their observed effects:
// the resources that inform a process, and the processes that affect each other without a
// message. The relation only grows.
type Relation struct {
	hears map[listener]bool // a process has been informed of a resource, or of an object of it
	deaf  map[listener]bool // it is informed of other objects of the resource, and not of this one
	moves map[pair]bool     // processes that affect each other without a message
	vague map[effect]bool   // steps that were observed to write different states after the same past
	whole map[effect]bool   // steps that touch all checked things
	grown int
}

// listener is a process and a resource, or the path of an object, that it is informed of.
type listener struct {
	actor sim.ActorID
	of    string
}

// pair is two processes, the lesser name first.
type pair struct{ a, b sim.ActorID }

// effect is a message with its outcome, at any time.
type effect struct {
	Name
	outcome sim.Outcome
}

// NewRelation returns a relation without learned facts.
func NewRelation() *Relation {
	return &Relation{hears: map[listener]bool{}, deaf: map[listener]bool{}, moves: map[pair]bool{}, vague: map[effect]bool{}, whole: map[effect]bool{}}
}

// Learned is the number of learned facts.
func (r *Relation) Learned() int { return r.grown }

// informs reports whether a process is informed of writes of an object.
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

// learnDeaf learns which objects of a resource a process is not informed of: an object that was
// written between two other writes, if the process was informed of both and, of the later one,
// immediately. A watch delivers in order. For a process that lists again, a missing event proves
// nothing.
func (r *Relation) learnDeaf(l *Log) {
	began := map[listener]int{} // the number of steps when a process was first informed of a resource
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

// learnMoves learns that two processes affect each other, and reports whether that is new.
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

// moving reports whether two processes affect each other.
func (r *Relation) moving(a, b sim.ActorID) bool {
	if b < a {
		a, b = b, a
	}
	return r.moves[pair{a, b}]
}

// kind holds everything that decides dependence.
//
// The delivery of a write to an informed process is not a step of the schedule. It is a
// consequence of the write that depends on the informed process: whether it waits, and which
// events it has received since it last read its channel. What the writer does and what the
// server stores do not depend on that. So the delivery is a separate event, which directly
// follows the write and belongs to the informed process.
type kind struct {
	effect
	resource, path string
	informed       bool // Actor is informed of a write
}

// served reports whether a server executes the message.
func (k *kind) served() bool {
	return k.Kind != sim.Event && (k.outcome == sim.Proceed || k.outcome == sim.LoseReply || k.outcome == sim.Stale)
}

func (k *kind) writes() bool { return k.Kind == sim.Write && k.served() }

// part is the way in which a later step depends on an earlier one.
type part int8

const (
	none    part = iota
	byState      // only through the state of the objects that the earlier step wrote
	whole
)

// part is the way in which step b depends on the earlier step a. It depends on a if both belong
// to one process, or to processes that affect each other; or if one writes the object of the
// other, a part of it or a list that contains it, unless a is a read. A read changes nothing, so a
// later write does not depend on it.
//
// A request for an object, or for a change of it, depends on earlier writers only through the
// state that they left and the number of writes, which determines the revision.
func (r *Relation) part(a, b *kind) part {
	switch {
	case a.Actor == b.Actor:
		return whole
	case a.informed: // its messages are at the gate already
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
