package dump

import (
	"errors"
	"strings"

	"ipamsim/scenarios/dump/unread"
	"ipamsim/scenarios/strict"
)

// Trace turns an error about the imported scenario into one about the dump: the place where the
// invalid object was read. The user has not seen that scenario, so for made-up objects, for
// instance the Node of a pod, only the files are named.
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
		out.Field, out.Problem = "", "it has no Node and nothing names one: add kubectl get nodes -o yaml"
	default: // of the Scenario itself
		out.Field, out.Problem = "", "cannot make a scenario: "+strings.TrimPrefix(bad.Field+": ", ": ")+bad.Problem
	}
	return &out
}
