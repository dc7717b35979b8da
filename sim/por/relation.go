package por

import (
	"strings"

	"ipamsim/sim"
)

// Relation says which two steps of a run depend on each other: in another order they may
// do something else. All others may be exchanged.
//
// Part of it is read off the messages, part is learned from what they were seen to do:
// which process hears of which resource, and which processes move each other without a
// message. It only grows.
type Relation struct {
	hears map[listener]bool // a process has been told of a resource, or of an object of it
	deaf  map[listener]bool // it is told of others of the resource, and not of this object
	moves map[pair]bool     // processes that move each other
	vague map[deed]bool     // steps that write one thing or another although the same went before
	whole map[deed]bool     // steps that touch everything that is judged
	grown int
}

// listener is a process and what it is told of: a resource, or the path of an object.
type listener struct {
	actor sim.ActorID
	of    string
}

// pair is two processes, the lesser name first.
type pair struct{ a, b sim.ActorID }

// deed is what a step does, whenever.
type deed struct {
	Name
	outcome sim.Outcome
}

// NewRelation has learned nothing.
func NewRelation() *Relation {
	return &Relation{hears: map[listener]bool{}, deaf: map[listener]bool{}, moves: map[pair]bool{}, vague: map[deed]bool{}, whole: map[deed]bool{}}
}

// Learned is how many facts were.
func (r *Relation) Learned() int { return r.grown }

// told reports whether a process is told of a write of an object.
func (r *Relation) told(a sim.ActorID, resource, path string) bool {
	of := listener{a, path}
	return r.hears[listener{a, resource}] && (r.hears[of] || !r.deaf[of])
}

func (r *Relation) learnHears(o *Offer) {
	was := r.told(o.Actor, o.Resource, o.Path)
	for _, of := range []string{o.Resource, o.Path} {
		if of != "" {
			r.hears[listener{o.Actor, of}] = true
		}
	}
	if !was && r.told(o.Actor, o.Resource, o.Path) {
		r.grown++
	}
}

// learnDeaf takes in of which objects a process is not told although it is of others: of a write
// between two of others that it was told of, at once of the later one. A watch tells in order. What a process
// that asks anew for all that there is does not hear of says nothing.
func (r *Relation) learnDeaf(l *Log) {
	began := map[listener]int{} // so many steps were made when a process was first told of a resource
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

func (r *Relation) learnVague(d deed) {
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

// kind is all that dependence goes by.
//
// That a process is told of a write is no step of the schedule, but a part of the write that
// depends on the process: whether it waits, and of what it was told since it last listened. What
// the writer does and the server keeps does not depend on that. So it is an event of its own,
// which comes right after the write and belongs to the process that is told.
type kind struct {
	deed
	resource, path string
	told           bool // Actor is told of a write
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
	case a.told: // what came of it is at the gate
		return none
	case r.moving(a.Actor, b.Actor):
		return whole
	case b.told: // the write is its cause
		return none
	case a.path == "" || b.path == "" || !a.served() || !b.served() || !a.writes() && !b.writes():
		return none
	case a.Kind == sim.Read:
		return none
	case !strings.HasPrefix(a.path, b.path) && !strings.HasPrefix(b.path, a.path):
		return none
	case a.writes() && (b.Kind == sim.Read || b.Kind == sim.Write) && !r.vague[a.deed] && !r.vague[b.deed]:
		return byState
	}
	return whole
}
