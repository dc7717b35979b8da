package strict

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Path leads to a value inside a document: keys and indices, from the root.
type Path []any

// At is the path of these keys (string) and indices (int).
func At(steps ...any) Path { return steps }

// Then is the path one step further. It never shares memory with another path.
func (p Path) Then(step any) Path { return append(p[:len(p):len(p)], step) }

// String is the path as users write it: spec.timeline[2].at. Keys that would be
// ambiguous stand in brackets: metadata.annotations[k8s.v1.cni.cncf.io/networks].
func (p Path) String() string {
	var b strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			switch {
			case s == "" || strings.ContainsFunc(s, odd):
				if q := strconv.Quote(s); len(q) != len(s)+2 || s == "" {
					s = q
				}
				b.WriteString("[" + s + "]")
			case b.Len() > 0:
				b.WriteString("." + s)
			default:
				b.WriteString(s)
			}
		}
	}
	return b.String()
}

func odd(r rune) bool {
	return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// ParsePath reads a path as the API server prints it in the causes of a refusal:
// spec.template.spec.containers[0].image, metadata.labels[a.b/c].
func ParsePath(s string) Path {
	var p Path
	for s != "" {
		switch s[0] {
		case '.':
			s = s[1:]
		case '[':
			key, rest, _ := strings.Cut(s[1:], "]")
			if i, err := strconv.Atoi(key); err == nil {
				p = append(p, i)
			} else {
				p = append(p, strings.Trim(key, `"`))
			}
			s = rest
		default:
			end := strings.IndexAny(s, ".[")
			if end < 0 {
				end = len(s)
			}
			p = append(p, s[:end])
			s = s[end:]
		}
	}
	return p
}

// Locate finds the value at a path. If it is not there, locate returns what it
// should have been in, and false.
func Locate(root *yaml.Node, p Path) (*yaml.Node, bool) {
	n := root
	for _, step := range p {
		next := Child(n, step)
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}

// Child is what a mapping has under a key, or a list at an index; nil: nothing.
func Child(n *yaml.Node, step any) *yaml.Node {
	switch s := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && s >= 0 && s < len(n.Content) {
			return n.Content[s]
		}
	case string:
		if n.Kind != yaml.MappingNode {
			return nil
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == s {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// Text is the scalar at a path, or "".
func Text(root *yaml.Node, steps ...any) string {
	if n, ok := Locate(root, steps); ok && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return n.Value
	}
	return ""
}
