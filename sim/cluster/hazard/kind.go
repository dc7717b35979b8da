package hazard

import (
	"maps"
	"slices"

	"ipamsim/model"
	"ipamsim/sim/cluster/action"
)

var kinds = func() map[string]action.Hazard {
	out := map[string]action.Hazard{}
	for _, h := range action.Hazards() {
		out[h.Name] = h
	}
	return out
}()

// Kinds lists the names of all hazards, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Usual lists the hazards that need not be named, sorted.
func Usual() []string {
	return slices.DeleteFunc(Kinds(), func(name string) bool { return kinds[name].Named })
}

// Check says why a hazard cannot happen in such a cluster, or "".
func Check(name string, s action.Scope) string { return kinds[name].Needs(s) }

// ClassOf is the class of what a hazard does.
func ClassOf(name string) model.Class { return kinds[name].Class }
