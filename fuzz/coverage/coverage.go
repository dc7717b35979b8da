// Package coverage measures what a run saw of the system: not lines of code, but states, and pairs of
// conflicting operations.
package coverage

import (
	"cmp"
	"maps"
	"slices"

	"ipamsim/fuzz/shape"
	"ipamsim/reports"
	"ipamsim/sim"
)

// Of returns what a run saw, each sorted and without repetition: hashes of the states, of the
// allocator's states, and of the pairs of conflicting operations that met.
//
// Two operations conflict if they are about the same object, are from two processes, and one of them
// writes. They met if no other operation on that object came between them. A pair is identified
// without names; "cni-add PATCH ippools" before "ip-reconciler PATCH ippools" is another pair than the
// reverse.
func Of(rep *reports.Report) (states, allocators, pairs []uint64) {
	return slices.Clone(rep.States), Allocators(rep.Ledger), Pairs(rep.Trace)
}

// Pairs returns hashes of the pairs of conflicting operations that met in a run.
func Pairs(tr *sim.Trace) []uint64 { return slices.Sorted(maps.Keys(meetings(tr))) }

// meetings returns how often each pair met.
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

// occurrence is a step that may meet another. Its shape is computed when it is first needed.
type occurrence struct {
	step *sim.Step
	text []byte
	hash uint64 // of text
}

func (s *occurrence) describe() *occurrence {
	if s.text == nil {
		c := s.step.Choice
		s.text = []byte(shape.Op(c.Op) + " " + c.Outcome.String() + "\n")
		s.hash = fnv(offset64, s.text)
	}
	return s
}

// before returns the hash of the pair: FNV-1a of both texts.
func (s *occurrence) before(next *occurrence) uint64 {
	return fnv(s.describe().hash, next.describe().text)
}

// Source: hash/fnv, which cannot continue from a sum.
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

// Merge adds more to a sorted set. It returns the set and the number of new members.
func Merge(set, more []uint64) (merged []uint64, fresh int) {
	n := len(set)
	merged = append(set, more...)
	slices.SortFunc(merged, cmp.Compare)
	merged = slices.Compact(merged)
	return merged, len(merged) - n
}
