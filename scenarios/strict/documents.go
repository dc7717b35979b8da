package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// What a file may cost. A YAML node takes 160 bytes or more, so that 8 MiB of
// "[0,0,0,…" would take a gigabyte; and aliases of aliases grow without bound.
const (
	valuesMax   = 1_000_000 // scalars, lists and mappings as written
	expandedMax = 64 << 20  // bytes of all values with every alias expanded
	depthMax    = 100       // the API server's own types reach 20
)

// Documents reads the YAML documents of a file, which should have one of a kind. Afterwards no alias and no merge
// key is left in them; what an alias stood for is shared, not copied.
func Documents(file string, data []byte, kind string) ([]*yaml.Node, error) {
	refuse := func(line int, format string, args ...any) ([]*yaml.Node, error) {
		return nil, &Error{File: file, Line: line, Problem: fmt.Sprintf(format, args...)}
	}
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return refuse(0, "empty, want a %s document and Kubernetes manifests", kind)
	case bytes.IndexByte(data, 0) >= 0:
		return refuse(0, "binary, want YAML text")
	case values(data) > valuesMax:
		return refuse(0, "more than %d values, too many for a %s", valuesMax, strings.ToLower(kind))
	}
	if i := invalidUTF8(data); i >= 0 {
		return refuse(lineOf(data, i), "byte %#02x is not UTF-8 text", data[i])
	}
	data = []byte(spaced(string(data)))
	roots, err := parseYAML(data)
	if err != nil {
		line, problem := explain(data, err)
		return refuse(line, "%s", problem)
	}
	if len(roots) == 0 {
		return refuse(0, "only comments, want a %s document and Kubernetes manifests", kind)
	}
	x := expander{file: file, sizes: map[*yaml.Node]size{}}
	total := 0
	for _, r := range roots {
		s, err := x.expand(r, 0)
		if err != nil {
			return nil, err
		}
		if total += s.bytes; total > expandedMax {
			return nil, x.bomb(r)
		}
	}
	return roots, nil
}

// spaced makes plain spaces of no-break spaces. Web pages indent what people copy
// from them with those; the vendor's article in seeds/002 does.
func spaced(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

// values is an upper bound of the number of YAML nodes: every node but the first
// stands behind one of these bytes.
func values(data []byte) int {
	n := 1
	for _, b := range data {
		switch b {
		case ',', ':', '[', '{', '\n', '\r', '?':
			n++
		case '-':
			n++ // counted also inside words; "- - - -" has a node for each
		}
	}
	return n
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func lineOf(data []byte, offset int) int { return 1 + bytes.Count(data[:offset], []byte("\n")) }

// parseYAML returns the root of every document that holds something.
func parseYAML(data []byte) (roots []*yaml.Node, err error) {
	defer func() {
		if v := recover(); v != nil { // the parser's own recover lets some panics through
			err = fmt.Errorf("yaml: %v", v)
		}
	}()
	for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var n yaml.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return roots, nil
		} else if err != nil {
			return nil, err
		}
		if n.Kind == yaml.DocumentNode && len(n.Content) == 1 && n.Content[0].Tag != "!!null" {
			roots = append(roots, n.Content[0])
		}
	}
}
