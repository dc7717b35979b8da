// Package strict reads YAML files written by hand: scenarios, plans, manifests.
//
// A file is bounded before it is parsed (bytes, values, nesting, aliases). Each of its documents is then decoded
// by walking a Go type along the YAML nodes: an unknown, duplicate or missing field, a value of another type, or
// one that YAML versions read differently, is an *Error with file, line, field and the expected value.
//
// sigs.k8s.io/yaml and sigs.k8s.io/json are as strict, but their errors have no line and no suggestion, or no
// path; go.yaml.in/yaml, which parses here, has the line.
package strict

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Doc is one document of a file, or one item of a List.
type Doc struct {
	File    string
	Object  string // KIND NAMESPACE/NAME of a manifest, for messages
	Root    *yaml.Node
	Dialect Dialect
	Base    int // how many lines of the file are before the first of its nodes' line numbers
	// Recorded: ipamsim wrote the document, and once wrote zeros for what was not there.
	Recorded bool

	within Path    // where it stands in the document that it is part of
	top    []Field // of the spec of what was decoded last as a whole
}

// Fail is a mistake at a node.
func (d *Doc) Fail(n *yaml.Node, p Path, format string, args ...any) *Error {
	return &Error{
		File: d.File, Line: n.Line + d.Base, Column: n.Column, Object: d.Object,
		Field: append(d.within[:len(d.within):len(d.within)], p...).String(), Problem: fmt.Sprintf(format, args...),
	}
}

// FailAt is a mistake at a path, or at what there is of it.
func (d *Doc) FailAt(p Path, format string, args ...any) *Error {
	n, _ := Locate(d.Root, p)
	return d.Fail(n, p, format, args...)
}

// Inside returns the value at a path as a separate document, whose errors keep their position in this
// one.
func (d *Doc) Inside(p Path) *Doc {
	return &Doc{File: d.File, Root: d.Node(p), within: p, top: d.top}
}

// Node is the value at a path, or what it should have been in.
func (d *Doc) Node(p Path) *yaml.Node {
	n, _ := Locate(d.Root, p)
	return n
}

// LineWithin is how many lines below a block of text ("key: |") the character at
// an offset stands. Text in quotes is folded, so there it is not known.
func LineWithin(n *yaml.Node, offset int) int {
	if n.Style&yaml.LiteralStyle == 0 {
		return 0
	}
	return 1 + strings.Count(n.Value[:offset], "\n")
}
