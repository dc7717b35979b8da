package dump

import (
	"errors"
	"strings"

	"ipamsim/scenarios/dump/unread"
	"ipamsim/scenarios/strict"
)

// Trace turns an error about the scenario that was made into one about the dump:
// where the object was read that is wrong. Nobody has seen that scenario, so that of
// what was made up, for instance the Node of a pod, only the files are named.
func (r *Report) Trace(err error) error {
	var bad *strict.Error
	if !errors.As(err, &bad) {
		return err
	}
	out := *bad
	out.Column = 0
	if from, ok := r.At(bad.Object); ok {
		out.File, out.Line = from.File, from.Line
		return &out
	}
	out.File, out.Line = unread.Files(r.sources), 0
	switch {
	case bad.Object != "":
	case r.Nodes == 0:
		out.Field, out.Problem = "", "no Node in it, and nothing that names one: add kubectl get nodes -o yaml"
	default: // of the Scenario itself
		out.Field, out.Problem = "", "no scenario can be made of it: "+strings.TrimPrefix(bad.Field+": ", ": ")+bad.Problem
	}
	return &out
}
