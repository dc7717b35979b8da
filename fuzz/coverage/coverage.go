// Package coverage measures what a run has seen of the system: not lines of
// code, but states it was in and operations that met.
package coverage

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"ipamsim/fuzz/shape"
	"ipamsim/reports"
	"ipamsim/sim"
)

// Of returns what a run saw, both sorted and without repetition: hashes of the
// states it was in, and of the pairs of conflicting operations that met.
//
// Two operations conflict if they are about one object, come from two processes
// and one of them writes; they met if no third one on that object came between.
// A pair counts once whatever the names are: "cni-add PATCH ippools" before
// "ip-reconciler PATCH ippools" is another one than the other way round.
func Of(rep *reports.Report) (states, pairs []uint64) {
	return slices.Clone(rep.States), Pairs(rep.Trace)
}

// Pairs are the pairs of conflicting operations of a run.
func Pairs(tr *sim.Trace) []uint64 { return slices.Sorted(maps.Keys(meetings(tr))) }

// meetings says how often each pair met.
func meetings(tr *sim.Trace) map[uint64]int {
	met := map[uint64]int{}
	last := map[string]*sim.Step{} // by object
	for _, s := range tr.Steps {
		op := s.Choice.Op
		object := shape.Object(op)
		if object == "" || op.Kind == sim.Local || op.Kind == sim.Watch {
			continue
		}
		for _, about := range []string{object, collection(object)} {
			b := last[about]
			if b != nil && b.Choice.Op.Actor != op.Actor && (b.Choice.Op.Kind == sim.Write || op.Kind == sim.Write) {
				met[pair(b, s)]++
			}
			last[about] = s
		}
	}
	return met
}

// collection is the list an object stands in, so that a LIST meets the writes of
// its members.
func collection(object string) string {
	if i := strings.LastIndexByte(object, '/'); i > 0 {
		return object[:i]
	}
	return object + "/"
}

func pair(a, b *sim.Step) uint64 {
	h := fnv.New64a()
	for _, s := range []*sim.Step{a, b} {
		_, _ = h.Write([]byte(shape.Op(s.Choice.Op) + " " + s.Choice.Outcome.String() + "\n"))
	}
	return h.Sum64()
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
