package space_test

import (
	"fmt"
	"iter"
	"maps"
	"net"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A field is named after its type, for example v3.IPPoolSpec.blockSize; fields of an unnamed struct
// extend the name, for example types.NetConf.ipam.ipv4_pools. A value belongs to classes: one of
// the field's boundary values, or absent.

// Classes of values of every field.
const (
	absent  = "absent"  // or the zero value, if upstream cannot distinguish it
	present = "set"     // for a field without boundary values
	one     = "one"     // element of a list or map
	several = "several" // elements
)

// bound is a boundary value of a field: a class, and the values that belong to it. beside are the
// other fields of the same object, by their JSON keys.
type bound struct {
	class string
	of    func(value any, beside map[string]any) bool
}

// exclusion is a field, or one class of a field, that no world contains. The fields of an excluded
// field are excluded, too.
type exclusion struct{ field, class, why string }

// each excludes fields of one type for the same reason; class "" is the whole field.
func each(why, class, owner string, fields ...string) []exclusion {
	var out []exclusion
	for _, f := range fields {
		out = append(out, exclusion{owner + "." + f, class, why})
	}
	return out
}

// walk collects what worlds set of upstream's configuration.
type walk struct {
	bounds     map[string][]bound // by field; for a list, those of its elements
	exclusions []exclusion
	enums      func(reflect.Type) []string // the values of an enumeration type; nil: there are none

	roots []reflect.Type
	names map[reflect.Type]string
	oneOf map[string][]string        // by field, the values that upstream's validator allows
	seen  map[string]map[string]bool // classes by field
}

func newWalk(bounds map[string][]bound, enums func(reflect.Type) []string, exclusions []exclusion) *walk {
	return &walk{
		bounds: bounds, enums: enums, exclusions: exclusions,
		names: map[reflect.Type]string{}, oneOf: map[string][]string{}, seen: map[string]map[string]bool{},
	}
}

// root adds a type to the walk; name is for an unnamed type.
func (w *walk) root(t reflect.Type, name string) {
	w.roots = append(w.roots, t)
	if name != "" {
		w.names[t] = name
	}
}

func (w *walk) name(t reflect.Type, path string) string {
	if n := w.names[t]; n != "" {
		return n
	}
	if t.Name() == "" {
		return path
	}
	return t.String()
}

// note records a document of some world. A patch says nothing about fields that it does not contain.
func (w *walk) note(t reflect.Type, document map[string]any, patch bool) {
	w.object(t, w.name(t, ""), document, patch)
}

func (w *walk) object(t reflect.Type, path string, o map[string]any, patch bool) {
	all := slices.Collect(fields(t))
	for _, f := range all {
		v, there := get(o, f.key, all)
		field := path + "." + f.key
		w.oneOf[field] = f.oneOf
		switch {
		case there && v != nil:
			w.value(f.typ, field, v, o, patch)
		case !patch:
			w.saw(field, absent)
		}
	}
}

func (w *walk) value(t reflect.Type, field string, v any, beside map[string]any, patch bool) {
	t = plain(t)
	for _, class := range w.classesOf(t, field, v, beside) {
		w.saw(field, class)
	}
	if scalar(t) {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if t.Kind() == reflect.Struct {
			w.object(t, w.name(t, field), v, patch)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			w.element(t.Elem(), field, v[key], beside, patch)
		}
	case []any:
		for _, e := range v {
			w.element(t.Elem(), field, e, beside, patch)
		}
	}
}

// element records an element of a list or map.
func (w *walk) element(t reflect.Type, field string, v any, beside map[string]any, patch bool) {
	if t = plain(t); t.Kind() == reflect.Struct && !scalar(t) {
		if o, ok := v.(map[string]any); ok {
			w.object(t, w.name(t, field), o, patch)
		}
		return
	}
	for _, class := range w.special(t, field, v, beside) {
		w.saw(field, class)
	}
}

func (w *walk) saw(field, class string) {
	if w.seen[field] == nil {
		w.seen[field] = map[string]bool{}
	}
	w.seen[field][class] = true
}

// classesOf returns the classes of one value.
func (w *walk) classesOf(t reflect.Type, field string, v any, beside map[string]any) []string {
	n := -1
	switch v := v.(type) {
	case []any:
		n = len(v)
	case map[string]any:
		n = len(v)
	}
	switch {
	case t.Kind() != reflect.Slice && t.Kind() != reflect.Map || scalar(t):
		if special := w.special(t, field, v, beside); special != nil || w.specialClasses(t, field) != nil {
			return special
		}
		return []string{present}
	case n == 0:
		return []string{absent}
	case n == 1:
		return []string{one}
	default:
		return []string{several}
	}
}

// special returns the classes of a value, or an element, in addition to present.
func (w *walk) special(t reflect.Type, field string, v any, beside map[string]any) []string {
	var out []string
	for _, b := range w.bounds[field] {
		if b.of(v, beside) {
			out = append(out, b.class)
		}
	}
	if w.bounds[field] == nil && slices.Contains(w.specialClasses(t, field), fmt.Sprint(v)) {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// specialClasses returns all classes that special may return for a field.
func (w *walk) specialClasses(t reflect.Type, field string) []string {
	var out []string
	for _, b := range w.bounds[field] {
		out = append(out, b.class)
	}
	switch {
	case out != nil:
	case t.Kind() == reflect.Bool:
		out = []string{"true", "false"}
	case w.oneOf[field] != nil:
		out = w.oneOf[field]
	case w.enums != nil:
		out = w.enums(t)
	}
	return out
}

// wanted lists the classes that worlds have to contain, by field, for every field of a document of
// a root type that is not excluded completely.
func (w *walk) wanted() map[string][]string {
	out, done := map[string][]string{}, map[reflect.Type]bool{}
	for _, t := range w.roots {
		w.want(t, w.name(t, ""), out, done)
	}
	return out
}

func (w *walk) want(t reflect.Type, path string, out map[string][]string, done map[reflect.Type]bool) {
	if done[t] {
		return
	}
	done[t] = true
	for f := range fields(t) {
		field, t := path+"."+f.key, plain(f.typ)
		if w.excluded(field, "") {
			continue
		}
		w.oneOf[field] = f.oneOf
		out[field] = w.classes(t, field)
		for !scalar(t) && t.Kind() != reflect.Struct {
			t = plain(t.Elem())
		}
		if !scalar(t) {
			w.want(t, w.name(t, field), out, done)
		}
	}
}

// classes returns the classes that a field has to be drawn with, including absent, except for
// booleans, which are mostly false then.
func (w *walk) classes(t reflect.Type, field string) []string {
	listed := !scalar(t) && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map)
	elem := t
	if listed {
		elem = plain(t.Elem())
	}
	out := w.specialClasses(elem, field)
	switch {
	case listed:
		out = append([]string{absent, one, several}, out...)
	case t.Kind() == reflect.Bool:
	case out == nil:
		out = []string{absent, present}
	default:
		out = append([]string{absent}, out...)
	}
	return out
}

func (w *walk) excluded(field, class string) bool {
	return slices.ContainsFunc(w.exclusions, func(e exclusion) bool { return e.field == field && e.class == class })
}

// missing returns the fields and classes that no world contains and no exclusion names.
func (w *walk) missing() []string {
	var out []string
	wanted := w.wanted()
	for field, classes := range wanted {
		for _, class := range classes {
			drawn := w.seen[field][class] || class == "false" && w.seen[field][absent]
			if !drawn && !w.excluded(field, class) {
				out = append(out, fmt.Sprintf("%s: no world draws it %s, and no exclusion says why", field, class))
			}
		}
	}
	return out
}

// complaints returns what no world contains and no exclusion names, exclusions of what some world
// contains, and bounds and exclusions of fields that do not exist.
func (w *walk) complaints() []string {
	out := w.missing()
	whole := newWalk(w.bounds, w.enums, nil)
	whole.roots, whole.names = w.roots, w.names
	all := whole.wanted()
	for field := range w.bounds {
		if all[field] == nil {
			out = append(out, field+": it has boundary values, and there is no such thing")
		}
	}
	for _, e := range w.exclusions {
		say := func(format string, args ...any) {
			what := strings.TrimSpace(e.class + " excluded")
			out = append(out, fmt.Sprintf("%s: %s%s", e.field, what, fmt.Sprintf(format, args...)))
		}
		classes, there := all[e.field]
		switch drawn := w.drawn(e); {
		case !there || e.class != "" && !slices.Contains(classes, e.class):
			say(", and there is no such thing")
		case len(drawn) > 0:
			say(", and a world draws it %s", strings.Join(drawn, ", "))
		case e.why == "":
			say(" without a reason")
		}
	}
	slices.Sort(out)
	return out
}

// drawn returns the classes of an exclusion that worlds contain.
func (w *walk) drawn(e exclusion) []string {
	var out []string
	for _, class := range slices.Sorted(maps.Keys(w.seen[e.field])) {
		if class == e.class || e.class == "" && class != absent {
			out = append(out, class)
		}
	}
	return out
}

// field is a field of a struct with its JSON key and, if upstream's validator lists them, its
// allowed values.
type field struct {
	key   string
	typ   reflect.Type
	oneOf []string
}

func fields(t reflect.Type) iter.Seq[field] {
	return func(yield func(field) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || key == "-" {
				continue
			}
			out := field{key: key, typ: f.Type}
			if key == "" {
				out.key = f.Name
			}
			for rule := range strings.SplitSeq(f.Tag.Get("validate"), ",") {
				if values, ok := strings.CutPrefix(rule, "oneof="); ok {
					out.oneOf = strings.Fields(values)
				}
			}
			if !yield(out) {
				return
			}
		}
	}
}

// get finds the value for a field's key like encoding/json: with the same key, otherwise with a key
// that differs only in case and is not that of another field.
func get(o map[string]any, key string, all []field) (any, bool) {
	if v, ok := o[key]; ok {
		return v, true
	}
	for _, k := range slices.Sorted(maps.Keys(o)) {
		if strings.EqualFold(k, key) && !slices.ContainsFunc(all, func(f field) bool { return f.key == k }) {
			return o[k], true
		}
	}
	return nil, false
}

// plain returns a type without its pointers.
func plain(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// values are struct types that are a single value in JSON.
var values = []reflect.Type{reflect.TypeFor[metav1.Duration](), reflect.TypeFor[net.IP](), reflect.TypeFor[net.IPNet]()}

func scalar(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map:
		return slices.Contains(values, t)
	}
	return true
}
