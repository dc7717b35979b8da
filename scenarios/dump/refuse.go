package dump

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
)

// oneLine is another library's error text as part of our line.
func oneLine(err error) string {
	var misfit *json.UnmarshalTypeError
	if errors.As(err, &misfit) {
		return unfit(misfit)
	}
	return strict.OneLine(err)
}

// unfit is what encoding/json says of a value of another type, in the words of the
// file: "spec.nodeName: want text, not a number". Its own text has our Go types.
func unfit(e *json.UnmarshalTypeError) string {
	s := "want " + wanted(e.Type) + ", not " + had(e.Value)
	field := strings.Split(e.Field, ".")
	field = slices.DeleteFunc(field, func(name string) bool { return slices.Contains(embedded, name) })
	if f := strings.Join(field, "."); f != "" {
		return f + ": " + s
	}
	return s
}

// embedded are our types that stand inside others without a name of their own.
// encoding/json counts them as fields on the way.
var embedded = []string{
	reflect.TypeFor[affinitySpec]().Name(), reflect.TypeFor[blockSpec]().Name(), reflect.TypeFor[listHead]().Name(), reflect.TypeFor[poolSpec]().Name(),
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "a mapping"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Pointer:
		return wanted(t.Elem())
	}
	return "a whole number"
}

// had is a JSON value as encoding/json names it: "string", "number 1.5".
func had(value string) string {
	switch kind, rest, _ := strings.Cut(value, " "); {
	case kind == "object":
		return "a mapping"
	case kind == "array":
		return "a list"
	case kind == "string":
		return "text"
	case kind == "bool":
		return "true or false"
	case rest != "":
		return rest // the number itself, which does not fit
	}
	return "a number"
}

// ourKinds are the documents that are no dump, and which command is for them.
var ourKinds = map[string]string{
	scenarios.Kind: "a scenario, no dump of a cluster: ipamsim run runs it",
	"Plan":         "a plan, no dump of a cluster: ipamsim plan answers it",
}

// ours refuses what somebody wrote for another command: the manifests beside it would
// pass for a cluster.
func (h *head) ours() error {
	if problem := ourKinds[h.Kind]; problem != "" && h.APIVersion == scenarios.APIVersion {
		return h.from.fail("", "kind", "%s", problem)
	}
	return nil
}

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
	if from, ok := r.origins[bad.Object]; ok {
		out.File, out.Line = from.File, from.Line
		return &out
	}
	out.File, out.Line = filesOf(r.sources), 0
	switch {
	case bad.Object != "":
	case r.Nodes == 0:
		out.Field, out.Problem = "", "no Node in it, and nothing that names one: add kubectl get nodes -o yaml"
	default: // of the Scenario itself
		out.Field, out.Problem = "", "no scenario can be made of it: "+strings.TrimPrefix(bad.Field+": ", ": ")+bad.Problem
	}
	return &out
}

// filesOf names what was read, for a mistake that is no one file's.
func filesOf(sources []string) string {
	if len(sources) == 0 {
		return "the dump"
	}
	return some(sources)
}
