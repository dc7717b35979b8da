package decode

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ipamsim/scenarios/strict"
)

// Origin is where an object was read.
type Origin struct {
	File string
	Line int // from 1; 0: not known
}

func (o Origin) String() string {
	if o.Line == 0 {
		return o.File
	}
	return o.File + ":" + strconv.Itoa(o.Line)
}

// Fail is what is wrong with what was read there, in one line.
func (o Origin) Fail(object, field, format string, args ...any) *strict.Error {
	return &strict.Error{File: o.File, Line: o.Line, Object: object, Field: field, Problem: fmt.Sprintf(format, args...)}
}

// OneLine is another library's error text as part of our line.
func OneLine(err error) string {
	var misfit *json.UnmarshalTypeError
	if errors.As(err, &misfit) {
		return unfit(misfit)
	}
	return strict.OneLine(err)
}

// unfit renders a type error of encoding/json in terms of the file: "spec.nodeName: want text, not a
// number". The original text has Go types.
func unfit(e *json.UnmarshalTypeError) string {
	s := "want " + wanted(e.Type) + ", not " + had(e.Value)
	field := strings.Split(e.Field, ".")
	field = slices.DeleteFunc(field, embedded)
	if f := strings.Join(field, "."); f != "" {
		return f + ": " + s
	}
	return s
}

// embedded reports whether a name is that of a type of ours that stands inside another
// one without a name of its own. encoding/json counts them as fields on the way. All such
// types are called …Spec, as no field of an object is.
func embedded(name string) bool {
	return strings.HasSuffix(name, "Spec") || name == reflect.TypeFor[listHead]().Name()
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
