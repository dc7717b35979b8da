// Package manifest writes objects of Kubernetes'.
package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Writer writes manifests: each field of the first level on a line of its own,
// what is in it as JSON, which is YAML as well. All of it is ASCII.
type Writer struct {
	bytes.Buffer
	Err error
}

// Object is an object of Kubernetes', or a part of one.
type Object map[string]any

// Manifest writes a document: fields are names and values by turns.
func (w *Writer) Manifest(apiVersion, kind string, metadata Object, fields ...any) {
	fmt.Fprintf(w, "---\napiVersion: %s\nkind: %s\n", apiVersion, kind)
	w.field("metadata", metadata)
	for i := 0; i+1 < len(fields); i += 2 {
		w.field(fields[i].(string), fields[i+1])
	}
}

func (w *Writer) field(name string, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil && w.Err == nil {
		w.Err = err
	}
	w.WriteString(name)
	w.WriteString(": ")
	w.WriteString(ascii(strings.TrimSuffix(b.String(), "\n")))
	w.WriteByte('\n')
}

// ascii escapes what is none, as YAML's and, below U+10000, JSON's strings have it.
func ascii(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		plain = plain && s[i] < 0x7f
	}
	if plain {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x7f:
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		case utf8.ValidRune(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// Named is the metadata of an object without a namespace.
func Named(name string) Object { return Object{"name": name} }

// InNamespace is the metadata of an object whose key is namespace/name.
func InNamespace(key string) Object {
	ns, name, ok := strings.Cut(key, "/")
	if !ok {
		return Object{"name": key}
	}
	return Object{"name": name, "namespace": ns}
}

// With adds what is not empty.
func With(o Object, pairs ...any) Object {
	for i := 0; i+1 < len(pairs); i += 2 {
		if m, ok := pairs[i+1].(map[string]string); ok && len(m) > 0 {
			o[pairs[i].(string)] = m
		}
	}
	return o
}

// Comment is text as part of a line of a comment.
func Comment(s string) string {
	return string(bytes.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r > 0x7f {
			return '?'
		}
		return r
	}, []byte(s)))
}
