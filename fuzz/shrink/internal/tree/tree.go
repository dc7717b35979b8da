// Package tree represents scenario documents as trees, and knows which parts an invariant needs.
package tree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Tree is a decoded JSON document: map[string]any, []any, json.Number, string, bool and nil. Strings of
// manifests that contain structure are of the types embedded and list. Trees are immutable: an edit
// returns a new tree that shares the unchanged parts.
type Tree = any

// embedded is JSON in a string: the CNI config of a NetworkAttachmentDefinition.
type embedded struct{ Tree }

// list is a comma-separated list in a string: the networks of a pod.
type list []any

// Read decodes JSON documents.
func Read(docs []json.RawMessage) ([]Tree, error) {
	var out []Tree
	for _, d := range docs {
		t, err := decode(d)
		if err != nil {
			return nil, fmt.Errorf("shrink: %w", err)
		}
		out = append(out, unfold("", t))
	}
	return out, nil
}

func decode(text []byte) (t Tree, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return t, d.Decode(&t)
}

// unfold finds the structure in strings; key is the key of t.
func unfold(key string, t Tree) Tree {
	switch t := t.(type) {
	case map[string]any:
		for k, v := range t {
			t[k] = unfold(k, v)
		}
	case []any:
		for i, v := range t {
			t[i] = unfold("", v)
		}
	case string:
		if strings.HasPrefix(strings.TrimSpace(t), "{") || strings.HasPrefix(t, "[") {
			if in, err := decode([]byte(t)); err == nil {
				return embedded{unfold("", in)}
			}
		}
		if parts := strings.Split(t, ","); strings.HasSuffix(key, "/networks") && len(parts) > 1 {
			l := make(list, len(parts))
			for i, p := range parts {
				l[i] = strings.TrimSpace(p)
			}
			return l
		}
	}
	return t
}

// MarshalJSON writes the structure as a string again.
func (e embedded) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(e.Tree)
	if err != nil {
		return nil, err
	}
	return json.Marshal(string(b))
}

// MarshalJSON writes the elements as a string, separated by commas.
func (l list) MarshalJSON() ([]byte, error) {
	var parts []string
	for _, p := range l {
		parts = append(parts, fmt.Sprint(p))
	}
	return json.Marshal(strings.Join(parts, ", "))
}

// Write returns the text of a scenario file.
func Write(docs []Tree) ([]byte, error) {
	var out bytes.Buffer
	for _, d := range docs {
		b, err := json.Marshal(d)
		if err != nil {
			return nil, fmt.Errorf("shrink: %w", err)
		}
		fmt.Fprintf(&out, "---\n%s\n", b) // JSON is YAML
	}
	return out.Bytes(), nil
}

// Path is the position of a value: keys and indices.
type Path []any

func (p Path) then(step any) Path { return append(p[:len(p):len(p)], step) }

// under reports whether q is the position of p or of one of its parents.
func (p Path) under(q Path) bool { return len(p) >= len(q) && slices.Equal(p[:len(q)], q) }

// Walk visits every value below t, parents first, in the order of keys.
func Walk(t Tree, p Path, visit func(Path, Tree)) {
	switch t := t.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(t)) {
			visit(p.then(k), t[k])
			Walk(t[k], p.then(k), visit)
		}
	case []any:
		for i, v := range t {
			visit(p.then(i), v)
			Walk(v, p.then(i), visit)
		}
	case list:
		for i, v := range t {
			visit(p.then(i), v)
		}
	case embedded:
		Walk(t.Tree, p, visit)
	}
}

// Entries returns the number of values directly below t.
func Entries(t Tree) int {
	switch t := t.(type) {
	case map[string]any:
		return len(t)
	case []any:
		return len(t)
	case list:
		return len(t)
	}
	return 0
}

// Value returns the value at p, nil if there is none.
func Value(t Tree, p Path) (v Tree) {
	Edit(t, p, func(at Tree) (Tree, bool) { v = at; return at, true })
	return v
}

// Edit returns t with the value at p replaced by the result of change, or removed if keep is false.
// If there is no such position, it returns t unchanged.
func Edit(t Tree, p Path, change func(Tree) (v Tree, keep bool)) Tree {
	switch t := t.(type) {
	case embedded:
		return embedded{Edit(t.Tree, p, change)}
	case list:
		out, _ := Edit([]any(t), p, change).([]any)
		return list(out)
	case map[string]any:
		k, _ := p[0].(string)
		v, ok := t[k]
		if !ok {
			return t
		}
		out := maps.Clone(t)
		if v, keep := next(v, p, change); keep {
			out[k] = v
		} else {
			delete(out, k)
		}
		return out
	case []any:
		i, ok := p[0].(int)
		if !ok || i >= len(t) {
			return t
		}
		out := slices.Clone(t)
		if v, keep := next(t[i], p, change); keep {
			out[i] = v
		} else {
			out = slices.Delete(out, i, i+1)
		}
		return out
	}
	return t
}

func next(v Tree, p Path, change func(Tree) (Tree, bool)) (Tree, bool) {
	if len(p) == 1 {
		return change(v)
	}
	return Edit(v, p[1:], change), true
}

// Without returns t without the values at these paths, which are in the order of Walk.
func Without(t Tree, paths []Path) Tree {
	var top []Path
	for _, p := range paths {
		if len(top) == 0 || !p.under(top[len(top)-1]) {
			top = append(top, p)
		}
	}
	for _, p := range slices.Backward(top) { // from the end, so that indices stay valid
		t = Edit(t, p, func(Tree) (Tree, bool) { return nil, false })
	}
	return t
}
