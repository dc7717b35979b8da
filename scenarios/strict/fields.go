package strict

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// Field is one field of a struct as encoding/json and the schema see it.
type Field struct {
	Name     string
	typ      reflect.Type
	required bool
	Enum     []string
	unset    string // what it is if it is not written, for one whose zero value counts as that
}

// unwritten describes a value that would count as unset; "" for others.
func (f Field) unwritten(v *yaml.Node) string {
	if f.unset == "" || v.Kind != yaml.ScalarNode {
		return ""
	}
	span, err := time.ParseDuration(v.Value)
	number, errN := strconv.ParseFloat(v.Value, 64)
	switch {
	case v.Value == "":
		return "an empty text; left out, it is " + f.unset
	case f.typ.Kind() != reflect.String && (err == nil && span == 0 || errN == nil && number == 0):
		return fmt.Sprintf("want more than %s; left out, it is %s", v.Value, f.unset)
	}
	return ""
}

// scalar reports whether its values stand on one line.
func (f Field) scalar() bool {
	t := f.typ
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Interface:
		return t == durationType || reflect.PointerTo(t).Implements(unmarshalType)
	}
	return true
}

func (f Field) hint() string {
	switch {
	case len(f.Enum) > 0:
		return ", want " + strings.Join(f.Enum, " or ")
	case f.typ == durationType:
		return ", want a duration, e.g. 5m30s"
	}
	return ""
}

var fieldCache sync.Map // reflect.Type → []field

// FieldsOf lists the fields of a struct, those of inlined structs among them.
func FieldsOf(t reflect.Type) []Field {
	if known, ok := fieldCache.Load(t); ok {
		return known.([]Field)
	}
	var out []Field
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && (name == "" || strings.Contains(opts, "inline")) && f.Type.Kind() == reflect.Struct:
			out = append(out, FieldsOf(f.Type)...)
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		made := Field{Name: name, typ: f.Type, unset: f.Tag.Get("unset")}
		for _, o := range strings.Split(f.Tag.Get("jsonschema"), ",") {
			if e, ok := strings.CutPrefix(o, "enum="); ok {
				made.Enum = append(made.Enum, e)
			}
			made.required = made.required || o == "required"
		}
		out = append(out, made)
	}
	fieldCache.Store(t, out)
	return out
}

// underSpec are the fields of the spec of a document's type; none if it has no spec.
func underSpec(t reflect.Type) []Field {
	if t.Kind() != reflect.Struct {
		return nil
	}
	all := FieldsOf(t)
	i := slices.IndexFunc(all, func(f Field) bool { return f.Name == "spec" && f.typ.Kind() == reflect.Struct })
	if i < 0 {
		return nil
	}
	return FieldsOf(all[i].typ)
}
