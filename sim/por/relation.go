package por

import (
	"strings"

	"ipamsim/sim"
)

// Relation says which two steps of a run depend on each other: in another order they may
// do something else. All others may be exchanged.
//
// Part of it is read off the messages, part is learned from what they were seen to do:
// which process hears of which resource, which processes move each other without a
// message, and what steps change of what is judged. It only grows.
type Relation struct {
	hears    map[sim.ActorID]map[string]bool // resources of which a process has been told
	moves    map[pair]bool                   // processes that move each other
	touches  map[deed]map[string]bool        // what steps change of what is judged
	together map[[2]string]bool              // things that are judged together, the lesser first
	vague    map[deed]bool                   // steps that write one thing or another although the same went before
	grown    int
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
	return &Relation{hears: map[sim.ActorID]map[string]bool{}, moves: map[pair]bool{}, touches: map[deed]map[string]bool{}, together: map[[2]string]bool{}, vague: map[deed]bool{}}
}

// Learned is how many facts were.
func (r *Relation) Learned() int { return r.grown }

func (r *Relation) learnHears(a sim.ActorID, resource string) {
	if resource == "" || r.hears[a][resource] {
		return
	}
	if r.hears[a] == nil {
		r.hears[a] = map[string]bool{}
	}
	r.hears[a][resource] = true
	r.grown++
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

// affects reports whether a step has a part in what another one does after it: they are of
// one process, or of two that move each other; both change what is judged together; or the
// first writes what the second is about, a part of it or a list that it stands in, or the
// other way round if the first is more than a read. A read changes nothing, so a write after it
// does what it does without it.
func (r *Relation) affects(a, b *kind) bool {
	switch {
	case a.Actor == b.Actor:
		return true
	case a.told: // what came of it is at the gate
		return false
	case r.moving(a.Actor, b.Actor):
		return true
	case b.told: // the write is its cause
		return false
	case r.judgedTogether(a.deed, b.deed):
		return true
	case a.path == "" || b.path == "" || !a.served() || !b.served() || !a.writes() && !b.writes():
		return false
	case a.Kind == sim.Read:
		return false
	}
	return strings.HasPrefix(a.path, b.path) || strings.HasPrefix(b.path, a.path)
}
