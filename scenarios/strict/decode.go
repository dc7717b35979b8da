package strict

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Wired is a type that is read as another one, which Wire returns. It implements
// json.Unmarshaler, whose errors are those of the user.
type Wired interface{ Wire() reflect.Type }

// Decode reads a node into a value of one of our types, or of Kubernetes' own.
//
// It walks the type beside the node instead of handing JSON to a decoder,
// because only the walk knows the line, the full path and what would have been
// right. What it accepts, encoding/json accepts; it is then decoded by that.
func (d *Doc) Decode(n *yaml.Node, into any, p Path) error {
	var b bytes.Buffer
	if n == d.Root {
		d.top = underSpec(reflect.TypeOf(into).Elem())
	}
	if err := d.Encode(&b, n, reflect.TypeOf(into).Elem(), p); err != nil {
		return err
	}
	if err := json.Unmarshal(b.Bytes(), into); err != nil {
		return d.Fail(n, p, "%s", OneLine(err))
	}
	return nil
}

var (
	durationType  = reflect.TypeFor[metav1.Duration]()
	rawType       = reflect.TypeFor[json.RawMessage]()
	unmarshalType = reflect.TypeFor[json.Unmarshaler]()
	textType      = reflect.TypeFor[encoding.TextUnmarshaler]()
	wiredType     = reflect.TypeFor[Wired]()
)

// Encode writes a node as JSON that fits t; nil fits everything. Keys keep their
// order. A field of a struct that is null counts as not written.
func (d *Doc) Encode(b *bytes.Buffer, n *yaml.Node, t reflect.Type, p Path) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil, t == rawType, t.Kind() == reflect.Interface:
		return d.free(b, n, p)
	case t == durationType:
		s, problem := duration(n)
		return d.write(b, n, p, s, problem)
	case t.Implements(wiredType):
		return d.wired(b, n, t, p)
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
func (d *Doc) write(b *bytes.Buffer, n *yaml.Node, p Path, v any, problem string) error {
	if problem != "" {
		return d.Fail(n, p, "%s", problem)
	}
	text, err := Marshal(v)
	if err != nil {
		return d.Fail(n, p, "%s", OneLine(err))
	}
	b.Write(text)
	return nil
}

// Marshal is json.Marshal that leaves <, > and & alone: people read findings.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// free writes a node that no type says anything of.
func (d *Doc) free(b *bytes.Buffer, n *yaml.Node, p Path) error {
	switch n.Kind {
	case yaml.MappingNode:
		return d.mapping(b, n, p, func(_, _ *yaml.Node, _ string) (reflect.Type, error) { return nil, nil })
	case yaml.SequenceNode:
		return d.list(b, n, nil, p)
	}
	v, problem := d.Dialect.free(n)
	return d.write(b, n, p, v, problem)
}

// custom writes a node whose type reads JSON in its own way: a quantity, a time,
// a number or a percentage.
func (d *Doc) custom(b *bytes.Buffer, n *yaml.Node, t reflect.Type, p Path) error {
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
	return d.Fail(n, p, "%s is no %s", Describe(n), example)
}

// wired writes a node whose type is read as another one.
func (d *Doc) wired(b *bytes.Buffer, n *yaml.Node, t reflect.Type, p Path) error {
	from := b.Len()
	if err := d.Encode(b, n, reflect.Zero(t).Interface().(Wired).Wire(), p); err != nil {
		return err
	}
	if err := reflect.New(t).Interface().(json.Unmarshaler).UnmarshalJSON(b.Bytes()[from:]); err != nil {
		return d.Fail(n, p, "%s", OneLine(err))
	}
	return nil
}

// texted writes a node whose type reads a text in its own way.
func (d *Doc) texted(b *bytes.Buffer, n *yaml.Node, t reflect.Type, p Path) error {
	v, problem := d.fitting(n, reflect.TypeFor[string]())
	if problem == "" {
		if err := reflect.New(t).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(v.(string))); err != nil {
			problem = OneLine(err)
		}
	}
	return d.write(b, n, p, v, problem)
}

func (d *Doc) list(b *bytes.Buffer, n *yaml.Node, elem reflect.Type, p Path) error {
	if n.Kind != yaml.SequenceNode {
		return d.Fail(n, p, `want a list ("- …" lines, or […]), not %s`, Describe(n))
	}
	b.WriteByte('[')
	for i, c := range n.Content {
		if i > 0 {
			b.WriteByte(',')
		}
		if elem != nil && elem.Kind() != reflect.Interface && Describe(c) == "nothing" {
			return d.Fail(c, p.Then(i), "an empty entry: write it or remove the line")
		}
		if err := d.Encode(b, c, elem, p.Then(i)); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// errSkip leaves a key out.
var errSkip = errors.New("skip")

// mapping writes a mapping; typeOf returns the expected type of a key.
func (d *Doc) mapping(b *bytes.Buffer, n *yaml.Node, p Path, typeOf func(k, v *yaml.Node, key string) (reflect.Type, error)) error {
	if n.Kind != yaml.MappingNode {
		return d.Fail(n, p, `want a mapping ("key: value" lines), not %s`, Describe(n))
	}
	lines := map[string]int{}
	b.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		key, problem := d.Dialect.key(k)
		if problem != "" {
			return d.Fail(k, p, "%s", problem)
		}
		if line, twice := lines[key]; twice {
			return d.Fail(k, p.Then(key), "written twice, first in line %d", line)
		}
		lines[key] = k.Line + d.Base
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
		if err := d.write(b, k, p.Then(key), key, ""); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := d.Encode(b, v, t, p.Then(key)); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// structure writes a struct: known fields, each once, none of the required missing.
func (d *Doc) structure(b *bytes.Buffer, n *yaml.Node, t reflect.Type, p Path) error {
	fields := FieldsOf(t)
	given, empty := map[string]bool{}, map[string]*yaml.Node{}
	err := d.mapping(b, n, p, func(k, v *yaml.Node, key string) (reflect.Type, error) {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == key })
		if i < 0 {
			return nil, d.Fail(k, p.Then(key), "unknown field%s", d.unknown(key, fields))
		}
		if Describe(v) == "nothing" {
			empty[key] = k
			return nil, errSkip
		}
		given[key] = true
		if problem := fields[i].unwritten(v); problem != "" && !d.Recorded {
			return nil, d.Fail(v, p.Then(key), "%s", problem)
		}
		if f := fields[i]; len(f.Enum) > 0 && v.Kind == yaml.ScalarNode && !slices.Contains(f.Enum, v.Value) {
			return nil, d.Fail(v, p.Then(key), "%s is not known, %s", Quote(v.Value), Want(v.Value, f.Enum))
		}
		return fields[i].typ, nil
	})
	if err != nil {
		return err
	}
	for _, f := range fields {
		if k := empty[f.Name]; f.required && k != nil {
			return d.Fail(k, p.Then(f.Name), "empty%s", f.hint())
		}
		if k := empty[f.Name]; d.Dialect == Ours && k != nil && f.scalar() {
			return d.Fail(k, p.Then(f.Name), "empty: write a value, or remove the line")
		}
		if f.required && !given[f.Name] {
			return d.Fail(n, p.Then(f.Name), "missing%s", f.hint())
		}
	}
	return nil
}

func (d *Doc) unknown(key string, fields []Field) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	if d.Dialect == Ours && slices.ContainsFunc(d.top, func(f Field) bool { return f.Name == key }) {
		return fmt.Sprintf(" here: %s belongs directly under spec, with its indentation", key)
	}
	if d.Dialect == Kubectl && Nearest(key, names) == "" {
		return "" // Kubernetes has too many to list
	}
	return ", " + Want(key, names)
}

// Raw is a node as JSON, with nothing said about its type.
func (d *Doc) Raw(n *yaml.Node) (json.RawMessage, error) {
	var out json.RawMessage
	return out, d.Decode(n, &out, nil)
}
