package strict

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// size is what a value amounts to with every alias expanded.
type size struct{ bytes, depth int }

// expander replaces aliases by what they stand for, and merge keys by the keys
// they bring.
type expander struct {
	file  string
	sizes map[*yaml.Node]size // of nodes that have an anchor; zero while inside
}

func (x *expander) fail(n *yaml.Node, problem string) *Error {
	return &Error{File: x.file, Line: n.Line, Column: n.Column, Problem: problem}
}

func (x *expander) bomb(n *yaml.Node) *Error {
	return x.fail(n, "aliases expand to more than 64 MiB")
}

func (x *expander) expand(n *yaml.Node, depth int) (size, error) {
	if depth > depthMax {
		return size{}, x.fail(n, fmt.Sprintf("nested more than %d levels deep", depthMax))
	}
	if n.Anchor != "" {
		if s, seen := x.sizes[n]; seen {
			if s.bytes == 0 {
				return s, x.fail(n, fmt.Sprintf("anchor %s contains itself", Quote(n.Anchor)))
			}
			return s, nil
		}
		x.sizes[n] = size{}
	}
	s := size{bytes: 16 + len(n.Value)}
	for i, c := range n.Content {
		switch {
		case c.Kind == yaml.AliasNode:
			c = c.Alias
			n.Content[i] = c
		case n.Kind == yaml.MappingNode && i%2 == 1 && c.Kind != yaml.ScalarNode:
			// People look for "spec:", not for the first line below it.
			c.Line, c.Column = n.Content[i-1].Line, n.Content[i-1].Column
		}
		inner, err := x.expand(c, depth+1)
		if err != nil {
			return s, err
		}
		s = size{s.bytes + inner.bytes, max(s.depth, inner.depth+1)}
		// Values that are shared are walked once here and often later.
		if depth+s.depth > depthMax {
			return s, x.fail(n, fmt.Sprintf("nested more than %d levels deep", depthMax))
		}
		if s.bytes > expandedMax {
			return s, x.bomb(n)
		}
	}
	if err := x.merge(n); err != nil {
		return s, err
	}
	if n.Anchor != "" {
		x.sizes[n] = s
	}
	return s, nil
}

// merge brings in the keys of "<<: *other". A mapping's own keys win, then those
// of the first that is merged. A merge never holds more than its source, which
// is counted already.
func (x *expander) merge(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	var own, from []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Tag != "!!merge":
			own = append(own, k, v)
		case v.Kind == yaml.SequenceNode:
			from = append(from, v.Content...)
		default:
			from = append(from, v)
		}
	}
	if len(own) == len(n.Content) {
		return nil
	}
	have := map[string]bool{}
	for i := 0; i < len(own); i += 2 {
		have[own[i].Value] = true
	}
	for _, m := range from {
		if m.Kind != yaml.MappingNode {
			return x.fail(m, `only a mapping can be merged with "<<"`)
		}
		for i := 0; i+1 < len(m.Content); i += 2 {
			if k := m.Content[i]; !have[k.Value] {
				have[k.Value] = true
				own = append(own, k, m.Content[i+1])
			}
		}
	}
	n.Content = own
	return nil
}
