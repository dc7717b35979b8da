// Package coverage measures what a run has seen of the system: not lines of
// code, but states it was in and operations that met.
package coverage

import (
	"cmp"
	"maps"
	"slices"

	"ipamsim/fuzz/shape"
	"ipamsim/reports"
	"ipamsim/sim"
)

// Of returns what a run saw, each sorted and without repetition: hashes of the
// states it was in, of those that its allocator was in, and of the pairs of conflicting
// operations that met.
//
// Two operations conflict if they are about one object, come from two processes
// and one of them writes; they met if no third one on that object came between.
// A pair counts once whatever the names are: "cni-add PATCH ippools" before
// "ip-reconciler PATCH ippools" is another one than the other way round.
func Of(rep *reports.Report) (states, allocators, pairs []uint64) {
	return slices.Clone(rep.States), Allocators(rep.Ledger), Pairs(rep.Trace)
}

// Pairs are the pairs of conflicting operations of a run.
func Pairs(tr *sim.Trace) []uint64 { return slices.Sorted(maps.Keys(meetings(tr))) }

// meetings says how often each pair met.
func meetings(tr *sim.Trace) map[uint64]int {
	met := map[uint64]int{}
	last := map[string]*occurrence{} // by object
	for _, s := range tr.Steps {
		op := s.Choice.Op
		if op.Request == nil || op.Request.Path == "" || op.Kind == sim.Local || op.Kind == sim.Watch {
			continue
		}
		b := &occurrence{step: s}
		for _, about := range []string{op.Request.Path, op.Request.Collection()} {
			a := last[about]
			if a != nil && a.step.Choice.Op.Actor != op.Actor && (a.step.Choice.Op.Kind == sim.Write || op.Kind == sim.Write) {
				met[a.before(b)]++
			}
			last[about] = b
		}
	}
	return met
}

// occurrence is a step that may be met, and what it looks like, once somebody asked.
type occurrence struct {
	step *sim.Step
	text []byte
	hash uint64 // of text
}

func (s *occurrence) look() *occurrence {
	if s.text == nil {
		c := s.step.Choice
		s.text = []byte(shape.Op(c.Op) + " " + c.Outcome.String() + "\n")
		s.hash = fnv(offset64, s.text)
	}
	return s
}

// before is the hash of the pair, FNV-1a of both texts.
func (s *occurrence) before(next *occurrence) uint64 { return fnv(s.look().hash, next.look().text) }

// Source: hash/fnv, which cannot go on from a sum.
const (
	offset64 = 14695981039346656037
	prime64  = 1099511628211
)

func fnv(h uint64, text []byte) uint64 {
	for _, b := range text {
		h = (h ^ uint64(b)) * prime64
	}
	return h
}

// Merge adds what is not in the sorted set yet and returns the set and how many
// were new.
func Merge(set, more []uint64) (merged []uint64, fresh int) {
	n := len(set)
	merged = append(set, more...)
	slices.SortFunc(merged, cmp.Compare)
	merged = slices.Compact(merged)
	return merged, len(merged) - n
}
