package scenarios

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// decode reads a node into a value of one of our types, or of Kubernetes' own.
//
// It walks the type beside the node instead of handing JSON to a decoder,
// because only the walk knows the line, the full path and what would have been
// right. What it accepts, encoding/json accepts; it is then decoded by that.
func (d *doc) decode(n *yaml.Node, into any, p path) error {
	var b bytes.Buffer
	if err := d.encode(&b, n, reflect.TypeOf(into).Elem(), p); err != nil {
		return err
	}
	if err := json.Unmarshal(b.Bytes(), into); err != nil {
		return d.fail(n, p, "%s", oneLine(err))
	}
	return nil
}

var (
	durationType  = reflect.TypeFor[metav1.Duration]()
	rawType       = reflect.TypeFor[json.RawMessage]()
	unmarshalType = reflect.TypeFor[json.Unmarshaler]()
	textType      = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// encode writes a node as JSON that fits t; nil fits everything. Keys keep their
// order. A field of a struct that is null counts as not written.
func (d *doc) encode(b *bytes.Buffer, n *yaml.Node, t reflect.Type, p path) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil, t == rawType, t.Kind() == reflect.Interface:
		return d.free(b, n, p)
	case t == durationType:
		s, problem := duration(n)
		return d.write(b, n, p, s, problem)
	case reflect.PointerTo(t).Implements(unmarshalType):
		return d.custom(b, n, t, p)
	case reflect.PointerTo(t).Implements(textType):
		return d.texted(b, n, t, p)
	}
	switch t.Kind() {
	case reflect.Struct:
		return d.structure(b, n, t, p)
	case reflect.Map:
		return d.mapping(b, n, p, func(_, _ *yaml.Node, _ string) (reflect.Type, error) { return t.Elem(), nil })
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			break
		}
		return d.list(b, n, t.Elem(), p)
	}
	s, problem := d.fitting(n, t)
	return d.write(b, n, p, s, problem)
}

// write writes a scalar, or fails with its problem.
func (d *doc) write(b *bytes.Buffer, n *yaml.Node, p path, v any, problem string) error {
	if problem != "" {
		return d.fail(n, p, "%s", problem)
	}
	text, err := marshal(v)
	if err != nil {
		return d.fail(n, p, "%s", oneLine(err))
	}
	b.Write(text)
	return nil
}

// marshal is json.Marshal that leaves <, > and & alone: people read findings.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// free writes a node that no type says anything of.
func (d *doc) free(b *bytes.Buffer, n *yaml.Node, p path) error {
	switch n.Kind {
	case yaml.MappingNode:
		return d.mapping(b, n, p, func(_, _ *yaml.Node, _ string) (reflect.Type, error) { return nil, nil })
	case yaml.SequenceNode:
		return d.list(b, n, nil, p)
	}
	v, problem := d.dialect.free(n)
	return d.write(b, n, p, v, problem)
}

// custom writes a node whose type reads JSON in its own way: a quantity, a time,
// a number or a percentage.
func (d *doc) custom(b *bytes.Buffer, n *yaml.Node, t reflect.Type, p path) error {
	from := b.Len()
	if err := d.free(b, n, p); err != nil {
		return err
	}
	err := errors.New("")
	if n.Tag != "!!null" {
		err = reflect.New(t).Interface().(json.Unmarshaler).UnmarshalJSON(b.Bytes()[from:])
	}
	if err == nil {
		return nil
	}
	example := strings.ToLower(t.Name())
	if w, ok := reflect.Zero(t).Interface().(interface{ Example() string }); ok {
		example = w.Example()
	}
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		example = "quantity, want e.g. 100m or 1Gi"
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		example = `time, want e.g. "2021-11-06T03:38:11Z"`
	}
	return d.fail(n, p, "%s is no %s", describe(n), example)
}

// texted writes a node whose type reads a text in its own way.
func (d *doc) texted(b *bytes.Buffer, n *yaml.Node, t reflect.Type, p path) error {
	v, problem := d.fitting(n, reflect.TypeFor[string]())
	if problem == "" {
		if err := reflect.New(t).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(v.(string))); err != nil {
			problem = oneLine(err)
		}
	}
	return d.write(b, n, p, v, problem)
}

func (d *doc) list(b *bytes.Buffer, n *yaml.Node, elem reflect.Type, p path) error {
	if n.Kind != yaml.SequenceNode {
		return d.fail(n, p, `want a list ("- …" lines, or […]), not %s`, describe(n))
	}
	b.WriteByte('[')
	for i, c := range n.Content {
		if i > 0 {
			b.WriteByte(',')
		}
		if elem != nil && elem.Kind() != reflect.Interface && describe(c) == "nothing" {
			return d.fail(c, p.then(i), "an empty entry: write it or remove the line")
		}
		if err := d.encode(b, c, elem, p.then(i)); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// errSkip leaves a key out.
var errSkip = errors.New("skip")

// mapping writes a mapping; typeOf says what is wanted under a key.
func (d *doc) mapping(b *bytes.Buffer, n *yaml.Node, p path, typeOf func(k, v *yaml.Node, key string) (reflect.Type, error)) error {
	if n.Kind != yaml.MappingNode {
		return d.fail(n, p, `want a mapping ("key: value" lines), not %s`, describe(n))
	}
	lines := map[string]int{}
	b.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		key, problem := d.dialect.key(k)
		if problem != "" {
			return d.fail(k, p, "%s", problem)
		}
		if line, twice := lines[key]; twice {
			return d.fail(k, p.then(key), "written twice, first in line %d", line)
		}
		lines[key] = k.Line + d.base
		t, err := typeOf(k, v, key)
		if errors.Is(err, errSkip) {
			continue
		}
		if err != nil {
			return err
		}
		if b.Bytes()[b.Len()-1] != '{' {
			b.WriteByte(',')
		}
		if err := d.write(b, k, p.then(key), key, ""); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := d.encode(b, v, t, p.then(key)); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// structure writes a struct: known fields, each once, none of the required missing.
func (d *doc) structure(b *bytes.Buffer, n *yaml.Node, t reflect.Type, p path) error {
	fields := fieldsOf(t)
	given, empty := map[string]bool{}, map[string]*yaml.Node{}
	err := d.mapping(b, n, p, func(k, v *yaml.Node, key string) (reflect.Type, error) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		if i < 0 {
			return nil, d.fail(k, p.then(key), "unknown field%s", d.unknown(key, fields))
		}
		if describe(v) == "nothing" {
			empty[key] = k
			return nil, errSkip
		}
		given[key] = true
		if problem := fields[i].unwritten(v); problem != "" && !d.recorded {
			return nil, d.fail(v, p.then(key), "%s", problem)
		}
		if f := fields[i]; len(f.enum) > 0 && v.Kind == yaml.ScalarNode && !slices.Contains(f.enum, v.Value) {
			return nil, d.fail(v, p.then(key), "%s is not known, %s", quote(v.Value), want(v.Value, f.enum))
		}
		return fields[i].typ, nil
	})
	if err != nil {
		return err
	}
	for _, f := range fields {
		if k := empty[f.name]; f.required && k != nil {
			return d.fail(k, p.then(f.name), "empty%s", f.hint())
		}
		if k := empty[f.name]; d.dialect == ours && k != nil && f.scalar() {
			return d.fail(k, p.then(f.name), "empty: write a value, or remove the line")
		}
		if f.required && !given[f.name] {
			return d.fail(n, p.then(f.name), "missing%s", f.hint())
		}
	}
	return nil
}

func (d *doc) unknown(key string, fields []field) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	if d.dialect == ours && slices.ContainsFunc(fieldsOf(reflect.TypeFor[Spec]()), func(f field) bool { return f.name == key }) {
		return fmt.Sprintf(" here: %s belongs directly under spec, with its indentation", key)
	}
	if d.dialect == kubectls && nearest(key, names) == "" {
		return "" // Kubernetes has too many to list
	}
	return ", " + want(key, names)
}

// fitting is the value of a scalar that fits a Go string, boolean or number.
func (d *doc) fitting(n *yaml.Node, t reflect.Type) (any, string) {
	if n.Kind != yaml.ScalarNode {
		return nil, fmt.Sprintf("want %s, not %s", kindName(t), describe(n))
	}
	v, problem := d.dialect.scalar(n)
	if problem != "" {
		return nil, problem
	}
	s, isText := v.(string)
	num, isNumber := v.(json.Number)
	_, isBool := v.(bool)
	switch k := t.Kind(); {
	case k == reflect.String && isText, k == reflect.Bool && isBool, k == reflect.Slice && isText:
		return v, ""
	case k == reflect.String && isBool && n.Tag == "!!str":
		return nil, fmt.Sprintf("want text, and kubectl reads %s as %t: put it in quotes", n.Value, v)
	case v == nil:
		return nil, fmt.Sprintf("want %s, not nothing", kindName(t))
	case k == reflect.String && !isText:
		return nil, fmt.Sprintf("want text, not %s: put it in quotes", n.Value)
	case k == reflect.Bool:
		return nil, fmt.Sprintf("want true or false, not %s", describe(n))
	case isText && json.Valid([]byte(s)) && strings.Trim(s, "-.0123456789") == "":
		return nil, fmt.Sprintf("want %s: remove the quotes around %s", kindName(t), s)
	case !isNumber:
		return nil, fmt.Sprintf("want %s, not %s", kindName(t), describe(n))
	}
	return num, misfit(string(num), t)
}

// misfit says why a number does not fit a type, or "".
func misfit(num string, t reflect.Type) string {
	var err error
	switch {
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		_, err = strconv.ParseInt(num, 10, t.Bits())
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		if strings.HasPrefix(num, "-") {
			return num + " is negative"
		}
		_, err = strconv.ParseUint(num, 10, t.Bits())
	default:
		_, err = strconv.ParseFloat(num, t.Bits())
	}
	switch {
	case errors.Is(err, strconv.ErrRange):
		return num + " is too large"
	case err != nil:
		return fmt.Sprintf("want %s, not %s", kindName(t), num)
	}
	return ""
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String, reflect.Slice:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// field is one field of a struct as encoding/json and the schema see it.
type field struct {
	name     string
	typ      reflect.Type
	required bool
	enum     []string
	unset    string // what it is if it is not written, for one whose zero value counts as that
}

// unwritten says that a value would count as not written, or "".
func (f field) unwritten(v *yaml.Node) string {
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
func (f field) scalar() bool {
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

func (f field) hint() string {
	switch {
	case len(f.enum) > 0:
		return ", want " + strings.Join(f.enum, " or ")
	case f.typ == durationType:
		return ", want a duration, e.g. 5m30s"
	}
	return ""
}

var fieldCache sync.Map // reflect.Type → []field

// fieldsOf lists the fields of a struct, those of inlined structs among them.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldCache.Load(t); ok {
		return known.([]field)
	}
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && (name == "" || strings.Contains(opts, "inline")) && f.Type.Kind() == reflect.Struct:
			out = append(out, fieldsOf(f.Type)...)
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		made := field{name: name, typ: f.Type, unset: f.Tag.Get("unset")}
		for _, o := range strings.Split(f.Tag.Get("jsonschema"), ",") {
			if e, ok := strings.CutPrefix(o, "enum="); ok {
				made.enum = append(made.enum, e)
			}
			made.required = made.required || o == "required"
		}
		out = append(out, made)
	}
	fieldCache.Store(t, out)
	return out
}
