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

// A field is named after its type, as in v3.IPPoolSpec.blockSize; what stands in a
// struct without a name goes on from there, as in types.NetConf.ipam.ipv4_pools. What
// it is set to is a class: one of its boundary values, or that it is absent.

// Classes of values of every field.
const (
	absent  = "absent"  // or the zero value, where upstream cannot tell
	present = "set"     // of a field whose values nothing tells apart
	one     = "one"     // element of a list or map
	several = "several" // of them
)

// bound is a boundary value of a field: a class, and which values are of it. "beside"
// are the fields that stand beside the value, by their keys in JSON.
type bound struct {
	class string
	of    func(value any, beside map[string]any) bool
}

// exclusion is a field, or one class of a field, that no world draws. The fields of
// what is excluded are excluded with it.
type exclusion struct{ field, class, why string }

// each excludes fields of one type, all for one reason; class "" is all of a field.
func each(why, class, owner string, fields ...string) []exclusion {
	var out []exclusion
	for _, f := range fields {
		out = append(out, exclusion{owner + "." + f, class, why})
	}
	return out
}

// walk is what worlds set of upstream's configuration.
type walk struct {
	bounds     map[string][]bound // by field; of a list, those of its elements
	exclusions []exclusion
	enums      func(reflect.Type) []string // the values of a type that is an enumeration; nil: none is

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

// root adds a type to what is to be walked; a name is for one that has none of its own.
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

// note takes note of a document that some world has. A patch sets what it names and
// says nothing of the rest.
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

// element takes note of an element of a list or map.
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

// classesOf are the classes of one value.
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

// special are the classes of a value, or an element, beyond that it is there.
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

// specialClasses are all that special may return of a field.
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

// wanted lists the classes that worlds are to draw, by field, of every field that a
// document of a root can have, but what is excluded as a whole.
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

// classes are those that a field is to be drawn with: that it is absent too, but for a
// bool, of which most are false then.
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

// missing are the fields and classes that no world draws and no exclusion names.
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

// complaints are what no world draws and no exclusion names, the exclusions of what is
// drawn, and what is said of fields that there are not.
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

// drawn are the classes of what is excluded that worlds draw.
func (w *walk) drawn(e exclusion) []string {
	var out []string
	for _, class := range slices.Sorted(maps.Keys(w.seen[e.field])) {
		if class == e.class || e.class == "" && class != absent {
			out = append(out, class)
		}
	}
	return out
}

// field is a field of a struct with its key in JSON and, if upstream's validator says
// them, the values that it may have.
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

// get finds a field's key as encoding/json does: as it is written, else in any case that
// is not how another field is written.
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

// plain is a type without its pointers.
func plain(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// values are types that JSON writes as one value, though Go sees more in them.
var values = []reflect.Type{reflect.TypeFor[metav1.Duration](), reflect.TypeFor[net.IP](), reflect.TypeFor[net.IPNet]()}

func scalar(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map:
		return slices.Contains(values, t)
	}
	return true
}
