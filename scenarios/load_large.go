package scenarios

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"ipamsim/scenarios/strict"
)

// pieceMin is the minimum size of the pieces of a large file that are parsed together: as many whole
// documents as reach it.
const pieceMin = 256 << 10

// parseLarge is Parse for a file that is too large to be held as nodes: the import of a large cluster. Its
// documents are read one after another, and the Scenario is the first. Of pods and allocations only the
// line is kept, so an error that is found later has no position inside the document.
func (m Managers) parseLarge(file string, data []byte) (*Scenario, error) {
	if len(data) > strict.LargeMax {
		return nil, &strict.Error{File: file, Problem: "more than 512 MiB, too large for a scenario"}
	}
	l := &loader{s: &Scenario{File: file, managers: m, docs: map[identity]*strict.Doc{}}, nodes: map[string]bool{}, arrives: map[string]time.Duration{}, large: true}
	first, rest := piece(data)
	if blank(first) {
		return nil, &strict.Error{File: file, Line: 1, Problem: wantFirst}
	}
	roots, err := read(file, first, Kind)
	if err != nil {
		return nil, err
	}
	if other(roots[0]) == dumpKind {
		return nil, noneOf(file, roots, Kind)
	}
	if strict.Text(roots[0], "kind") != Kind {
		return nil, &strict.Error{File: file, Line: roots[0].Line, Problem: wantFirst}
	}
	return l.load(file, roots, func() error {
		if err := l.manifests(file, roots); err != nil {
			return err
		}
		for seen := first; len(rest) > 0; {
			l.base += bytes.Count(seen, []byte("\n"))
			seen, rest = piece(rest)
			if err := l.piece(file, seen); err != nil {
				return err
			}
		}
		l.base = 0
		return nil
	})
}

const wantFirst = "want the Scenario as the first document of a file of more than 8 MiB"

// piece reads some documents of the middle of a file.
func (l *loader) piece(file string, data []byte) error {
	if blank(data) {
		return nil
	}
	roots, err := read(file, data, Kind)
	var bad *strict.Error
	if errors.As(err, &bad) && bad.Line > 0 {
		bad.Line += l.base
	}
	if err != nil {
		return err
	}
	for _, r := range roots {
		if strict.Text(r, "kind") == Kind {
			d := &strict.Doc{File: file, Root: r, Base: l.base}
			return d.FailAt(at("kind"), "a second Scenario, the first begins in line %d; one file is one scenario", l.doc.Root.Line)
		}
	}
	return l.manifests(file, roots)
}

// blank reports whether there are only separators and comments.
func blank(data []byte) bool {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return false
		}
	}
	return true
}

// piece splits a file behind whole documents: before a line that begins with "---",
// which stands inside no value.
//
// Source: yaml.org/spec/1.2.2, 9.1.2, c-forbidden.
func piece(data []byte) (first, rest []byte) {
	if len(data) <= pieceMin {
		return data, nil
	}
	if i := bytes.Index(data[pieceMin:], []byte("\n---")); i >= 0 {
		end := pieceMin + i + 1
		return data[:end], data[end:]
	}
	return data, nil
}

// many are the kinds with thousands of objects in a large cluster.
var many = []string{"Pod", "IPAMBlock", "IPAMHandle", "BlockAffinity", "OverlappingRangeIPReservation"}

// slim forgets a document but for its line and the networks that it asks for.
func slim(d *strict.Doc, kind string) {
	if !slices.Contains(many, kind) {
		return
	}
	at := func(n *yaml.Node, content ...*yaml.Node) *yaml.Node {
		return &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Column: n.Column, Content: content}
	}
	key := func(name string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: name} }
	asked, ok := strict.Locate(d.Root, path{"metadata", "annotations", annotation})
	if !ok {
		d.Root = at(d.Root)
		return
	}
	d.Root = at(d.Root, key("metadata"), at(asked, key("annotations"), at(asked, key(annotation), asked)))
}
